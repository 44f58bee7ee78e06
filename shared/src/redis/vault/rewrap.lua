-- Replaces what is sealed by the same under another key; everything else stays.
-- KEYS 1 credential or staged (hash)   ARGV 1 what must stand there   2 what stands there then
-- Returns 1 when it does, 0 when something else stood there.
local sealed = redis.call('HGET', KEYS[1], 'sealed')
if sealed == ARGV[2] then return 1 end
if sealed ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
return 1
