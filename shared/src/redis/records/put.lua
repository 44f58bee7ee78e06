-- requires: client/clock
-- Stores a record of an owner for `life` ms and lists it, if the record has the value `from` ('': does not exist) and
-- the record `guard` has the value `guarded` ('': any).
-- record: string. names: zset of the owner's records by expiry time (ms). fence: exists after an erasure of the owner.
-- guard: string, another record of the owner, or `record` itself if there is none. most: the maximum number of the
-- owner's records. beyond: 'drop' or 'refuse', what happens to one more.
-- Returns {the stored value or '', names of records that no longer fit}; {false, ms} while the fence lasts for that
-- long; {false, 0} for a refused record.
local record, names, fence, guard = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local name, value, life = ARGV[1], ARGV[2], tonumber(ARGV[3])
local most, beyond, from, guarded = tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return { false, fencedFor } end
local found = redis.call('GET', record) or ''
if found ~= from then return { found, {} } end
if guarded ~= '' and redis.call('GET', guard) ~= guarded then return { found, {} } end
local now = readClock()
redis.call('ZREMRANGEBYSCORE', names, '-inf', now)
local over = found == '' and redis.call('ZCARD', names) + 1 - most or 0
if over > 0 and beyond == 'refuse' then return { false, 0 } end
redis.call('SET', record, value, 'PX', life)
local dropped = over > 0 and redis.call('ZRANGE', names, 0, over - 1) or {}
redis.call('ZADD', names, now + life, name)
if redis.call('PTTL', names) < life then redis.call('PEXPIRE', names, life) end
return { value, dropped }
