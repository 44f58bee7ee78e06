-- Replaces sealed bytes by the same content wrapped with another key. All other fields stay. Returns 1 if the new bytes are
-- stored, 0 if neither the old nor the new ones are.
local record = KEYS[1]
local old, new = unpack(ARGV)
local sealed = redis.call('HGET', record, 'sealed')
if sealed == new then return 1 end
if sealed ~= old then return 0 end
redis.call('HSET', record, 'sealed', new)
return 1
