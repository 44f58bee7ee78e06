-- Flows that staged something a while ago, oldest first, each followed by when.
-- KEYS 1 flows (zset)   ARGV 1 age in ms   2 how many at most   3 how many to pass over
local clock = redis.call('TIME')
local latest = clock[1] * 1000 + math.floor(clock[2] / 1000) - ARGV[1]
return redis.call('ZRANGE', KEYS[1], '-inf', latest, 'BYSCORE', 'LIMIT', ARGV[3], ARGV[2], 'WITHSCORES')
