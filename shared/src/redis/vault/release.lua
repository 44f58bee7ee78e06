-- Ends a lease if it is still its holder's.
-- KEYS 1 lease   ARGV 1 holder
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
