-- requires: client/clock
-- The ids whose deadlines passed at least `overdueMs` ago on this server's clock, oldest first, after the first
-- `skipped` ones.
local deadlines = KEYS[1]
local limit, skipped, overdueMs = unpack(ARGV)
local now = readClock()
return redis.call('ZRANGE', deadlines, '-inf', now - overdueMs, 'BYSCORE', 'LIMIT', skipped, limit)
