-- Gives an entry to its first taker, and again to the same taker. Returns the value; nothing if there is no such entry, or
-- another taker has it.
local entry, taker = KEYS[1], ARGV[1]
local value = redis.call('HGET', entry, 'value')
if not value then return false end
redis.call('HSETNX', entry, 'taker', taker)
if redis.call('HGET', entry, 'taker') ~= taker then return false end
return value
