-- Removes a dead letter, if it is the one that was meant.
-- KEYS 1 dead letters (zset)  2 their details (hash)   ARGV 1 delivery id   2 when it died, in ms; empty for any
-- Returns 1 when it was there.
local died = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not died or (ARGV[2] ~= '' and tonumber(died) ~= tonumber(ARGV[2])) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
