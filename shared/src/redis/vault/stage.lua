-- Keeps what a flow got apart, and lists the flow.
-- KEYS 1 staged (hash)   2 flows (zset)   ARGV 1 sealed   2 how long it is kept, in ms   3 the flow as it is listed
local clock = redis.call('TIME')
redis.call('HSET', KEYS[1], 'sealed', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], clock[1] * 1000 + math.floor(clock[2] / 1000), ARGV[3])
