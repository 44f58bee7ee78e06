-- requires: client/clock
-- Flows that staged something at least `age` ms ago, oldest first, each followed by the time at which it did.
local flows = KEYS[1]
local age, limit, skipped = unpack(ARGV)
return redis.call('ZRANGE', flows, '-inf', readClock() - age, 'BYSCORE', 'LIMIT', skipped, limit, 'WITHSCORES')
