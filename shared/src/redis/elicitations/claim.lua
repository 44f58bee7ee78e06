-- Gives a name to its first comer; when that one claims it again, for as long as a new claim would last.
-- KEYS 1 claim   ARGV 1 value   2 how long it is kept, in ms
-- Returns the value that holds the name.
local held = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'GET', 'PX', ARGV[2])
if not held then return ARGV[1] end
if held == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT') end
return held
