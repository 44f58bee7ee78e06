-- requires: client/clock
-- Ids whose deadline has passed on this server's clock, oldest first, after the first `skipped` of them.
local deadlines = KEYS[1]
local limit, skipped = unpack(ARGV)
return redis.call('ZRANGE', deadlines, '-inf', (readClock()), 'BYSCORE', 'LIMIT', skipped, limit)
