-- Subscribes a delivery kind to a turn for at least `life` ms. kinds: set of the subscribed kinds. fence: exists after an
-- erasure of the owner. Returns 0, or the remaining ms of the fence if there is one.
local kinds, fence = KEYS[1], KEYS[2]
local kind, life = ARGV[1], tonumber(ARGV[2])
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return fencedFor end
redis.call('SADD', kinds, kind)
if redis.call('PTTL', kinds) < life then redis.call('PEXPIRE', kinds, life) end
return 0
