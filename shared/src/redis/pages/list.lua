-- requires: client/clock
-- Adds an entry of the hosted pages, which is kept for `life` ms, to its person's list. entries: zset by expiry time
-- (ms). fence: exists after an erasure of the person. Returns 0, or the remaining ms of the fence if there is one.
local entries, fence = KEYS[1], KEYS[2]
local entry, life = ARGV[1], tonumber(ARGV[2])
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return fencedFor end
local now = readClock()
redis.call('ZREMRANGEBYSCORE', entries, '-inf', now)
redis.call('ZADD', entries, now + life, entry)
if redis.call('PTTL', entries) < life then redis.call('PEXPIRE', entries, life) end
return 0
