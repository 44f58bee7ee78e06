-- Keeps something that hosted pages need, over whatever was there.
-- KEYS 1 entry   ARGV 1 value   2 how long it is kept, in ms
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'value', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
