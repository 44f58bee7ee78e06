-- Ids whose deadline has passed on this server's clock, oldest first.
-- KEYS 1 deadlines (zset)   ARGV 1 how many at most   2 how many to pass over
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
return redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', ARGV[2], ARGV[1])
