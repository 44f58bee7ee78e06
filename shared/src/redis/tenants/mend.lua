-- Makes the place of a record or turn in its tenant's list agree with its row. row: the hash. list: zset, see tenants/scores.
-- beganField, endedField: the fields of the row with these times (ms).
local row, list = KEYS[1], KEYS[2]
local member, beganField, endedField = unpack(ARGV, 1, 3)
local began, ended = unpack(redis.call('HMGET', row, beganField, endedField))
if not began then return redis.call('ZREM', list, member) end
local score = ended and string.format('%.0f', -ended) or began
return redis.call('ZADD', list, 'XX', 'CH', score, member)
