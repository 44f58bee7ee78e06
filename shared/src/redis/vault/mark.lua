-- Notes that only the person can get another credential.
-- KEYS 1 credential (hash)   ARGV 1 version
-- Returns 1 when it is noted on that version, 0 when another stands there or none.
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'reconnect_required')
return 1
