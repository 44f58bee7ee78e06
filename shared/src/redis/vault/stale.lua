-- requires: client/clock
-- The flows that staged a credential at least `age` ms ago, oldest first, each followed by the time of staging.
local flows = KEYS[1]
local age, limit, skipped = unpack(ARGV)
return redis.call('ZRANGE', flows, '-inf', readClock() - age, 'BYSCORE', 'LIMIT', skipped, limit, 'WITHSCORES')
