-- requires: client/clock
-- Stores a record of an owner for `life` ms unless there is one, and lists it with the owner's records.
-- record: string. names: zset of the owner's records by the time (ms) at which each expires. fence: exists after an
-- erasure of the owner.
-- most: how many records the owner may have. beyond: 'drop' or 'refuse', what happens to one more.
-- Returns {the stored value, names of records that no longer fit}; {false, ms} while the fence stays for that long;
-- {false, 0} for a record that is refused.
local record, names, fence = KEYS[1], KEYS[2], KEYS[3]
local name, value, life = ARGV[1], ARGV[2], tonumber(ARGV[3])
local most, beyond = tonumber(ARGV[4]), ARGV[5]
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return { false, fencedFor } end
local found = redis.call('GET', record)
if found then return { found, {} } end
local now = readClock()
redis.call('ZREMRANGEBYSCORE', names, '-inf', now)
local over = redis.call('ZCARD', names) + 1 - most
if over > 0 and beyond == 'refuse' then return { false, 0 } end
redis.call('SET', record, value, 'PX', life)
local dropped = over > 0 and redis.call('ZRANGE', names, 0, over - 1) or {}
redis.call('ZADD', names, now + life, name)
if redis.call('PTTL', names) < life then redis.call('PEXPIRE', names, life) end
return { value, dropped }
