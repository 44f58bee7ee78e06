-- One dead letter whose time is not over.
-- KEYS 1 dead letters (zset)  2 their details (hash)   ARGV 1 how long they are kept, in ms   2 delivery id
-- Returns {when, details (JSON)}; nothing when there is none.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local died = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not died or tonumber(died) <= now - ARGV[1] then return false end
return { died, redis.call('HGET', KEYS[2], ARGV[2]) or '' }
