-- Removes what a flow has staged.
-- KEYS 1 credential (hash)   2 staged (hash)   3 flows (zset)   ARGV 1 flow id   2 the flow as it is listed
-- Returns 0 when nothing was staged because the flow was promoted, else 1.
redis.call('ZREM', KEYS[3], ARGV[2])
if redis.call('DEL', KEYS[2]) == 1 then return 1 end
return redis.call('HGET', KEYS[1], 'flow') == ARGV[1] and 0 or 1
