-- Replaces the value of an owner's record if it has not changed; its expiry stays. record: string. Returns 1 if the record has
-- the new value.
local record = KEYS[1]
local old, new = unpack(ARGV)
local value = redis.call('GET', record)
if value == new then return 1 end
if value ~= old then return 0 end
redis.call('SET', record, new, 'KEEPTTL')
return 1
