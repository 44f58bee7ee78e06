-- Removes one version of a credential.
-- Returns 1 when no credential is stored now, 0 when another version is stored.
local credential, version = KEYS[1], ARGV[1]
local stored = redis.call('HGET', credential, 'version')
if stored and stored ~= version then return 0 end
redis.call('DEL', credential)
return 1
