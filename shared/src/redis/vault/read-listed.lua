-- Reads a sealed record, and lists it: an earlier version may have stored it in no list.
-- list: set of the person's records; member: the record as it is listed there.
-- Returns the sealed text; nothing when there is none.
local record, list = unpack(KEYS)
local member = ARGV[1]
local sealed = redis.call('HGET', record, 'sealed')
if sealed then redis.call('SADD', list, member) end
return sealed
