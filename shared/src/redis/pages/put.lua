-- Stores an entry of the hosted pages for `life` ms, in place of any earlier one.
local entry = KEYS[1]
local value, life = unpack(ARGV)
redis.call('DEL', entry)
redis.call('HSET', entry, 'value', value)
redis.call('PEXPIRE', entry, life)
return 1
