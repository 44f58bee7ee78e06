-- Gives an entry to its first taker, and to that one again.
-- KEYS 1 entry   ARGV 1 taker
-- Returns the value; nothing when there is none, or when it is somebody else's.
local value = redis.call('HGET', KEYS[1], 'value')
if not value then return false end
redis.call('HSETNX', KEYS[1], 'taker', ARGV[1])
if redis.call('HGET', KEYS[1], 'taker') ~= ARGV[1] then return false end
return value
