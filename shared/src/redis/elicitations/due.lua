-- requires: client/clock
-- Ids whose deadline passed at least `sinceMs` ago on this server's clock, oldest first, after the first `skipped` of them.
local deadlines = KEYS[1]
local limit, skipped, sinceMs = unpack(ARGV)
local now = readClock()
return redis.call('ZRANGE', deadlines, '-inf', now - sinceMs, 'BYSCORE', 'LIMIT', skipped, limit)
