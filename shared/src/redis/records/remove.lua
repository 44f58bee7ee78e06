-- requires: client/clock
-- Removes a record of an owner; with a value, only if the record has it. The keys are those of records/put.lua. Returns
-- 1 if a record was removed.
local record, names = KEYS[1], KEYS[2]
local name, value = ARGV[1], ARGV[2]
if value and redis.call('GET', record) ~= value then return 0 end
redis.call('ZREM', names, name)
-- The list now expires together with its last record.
local last = redis.call('ZRANGE', names, -1, -1, 'WITHSCORES')[2]
if last then redis.call('PEXPIRE', names, last - readClock()) end
return redis.call('DEL', record)
