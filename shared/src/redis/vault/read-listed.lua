-- Reads a sealed record and lists it, because an earlier version may have stored it without listing it. list: set of the
-- person's records. member: the record's member of it. Returns the sealed text; nothing if there is none.
local record, list = unpack(KEYS)
local member = ARGV[1]
local sealed = redis.call('HGET', record, 'sealed')
if sealed then redis.call('SADD', list, member) end
return sealed
