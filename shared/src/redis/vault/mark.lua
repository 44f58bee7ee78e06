-- Marks one version of a credential as one that only the person can replace. Returns 1 if it was marked, 0 if another version
-- or none is stored.
local credential, version = KEYS[1], ARGV[1]
if redis.call('HGET', credential, 'version') ~= version then return 0 end
redis.call('HSET', credential, 'state', 'reconnect_required')
return 1
