-- requires: client/clock
-- Stages a flow's credential for `life` ms, and lists the flow. list: set of the person's records.
local staged, flows, list = unpack(KEYS)
local sealed, life, flow = unpack(ARGV)
redis.call('HSET', staged, 'sealed', sealed)
redis.call('PEXPIRE', staged, life)
redis.call('ZADD', flows, (readClock()), flow)
redis.call('SADD', list, flow)
