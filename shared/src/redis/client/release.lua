-- Ends a lease or a claim if this holder has it.
local name, holder = KEYS[1], ARGV[1]
if redis.call('GET', name) == holder then redis.call('DEL', name) end
