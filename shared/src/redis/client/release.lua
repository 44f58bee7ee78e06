-- Ends a lease, if this holder has it.
local lease, holder = KEYS[1], ARGV[1]
if redis.call('GET', lease) == holder then redis.call('DEL', lease) end
