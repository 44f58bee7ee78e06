-- requires: client/clock
-- Takes or renews one of `max` places, for a lease in ms. `places` is a zset by the end of each lease. Returns 1 when
-- the place is held, 0 when all places are taken.
local places = KEYS[1]
local place, max, lease = unpack(ARGV)
local now = readClock()
redis.call('ZREMRANGEBYSCORE', places, '-inf', now)
if not redis.call('ZSCORE', places, place) and redis.call('ZCARD', places) >= tonumber(max) then return 0 end
redis.call('ZADD', places, now + lease, place)
-- The set is kept as long as its longest lease.
if redis.call('PTTL', places) < tonumber(lease) then redis.call('PEXPIRE', places, lease) end
return 1
