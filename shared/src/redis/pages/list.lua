-- requires: client/clock
-- Lists an entry of the hosted pages, which stays for `life` ms, with those of its person.
-- entries: zset by the time (ms) at which each expires. fence: exists after an erasure of the person.
-- Returns 0 when it is listed; else the ms for which the fence stays.
local entries, fence = KEYS[1], KEYS[2]
local entry, life = ARGV[1], tonumber(ARGV[2])
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return fencedFor end
local now = readClock()
redis.call('ZREMRANGEBYSCORE', entries, '-inf', now)
redis.call('ZADD', entries, now + life, entry)
if redis.call('PTTL', entries) < life then redis.call('PEXPIRE', entries, life) end
return 0
