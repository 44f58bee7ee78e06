-- requires: client/clock
-- Stages the credential that a flow got, for `life` ms, and lists the flow.
local staged, flows = KEYS[1], KEYS[2]
local sealed, life, flow = unpack(ARGV)
redis.call('HSET', staged, 'sealed', sealed)
redis.call('PEXPIRE', staged, life)
redis.call('ZADD', flows, (readClock()), flow)
