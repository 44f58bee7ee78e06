-- Replaces the record of one call of a run if it has not changed. run: hash. field: the field of the call. Returns 1 if the
-- field has the new value.
local run = KEYS[1]
local field, old, new = unpack(ARGV)
local value = redis.call('HGET', run, field)
if value == new then return 1 end
if value ~= old then return 0 end
redis.call('HSET', run, field, new)
-- The bytes of the run, as runs/write counts them.
if redis.call('HEXISTS', run, 'recordBytes') == 1 then redis.call('HINCRBY', run, 'recordBytes', #new - #old) end
return 1
