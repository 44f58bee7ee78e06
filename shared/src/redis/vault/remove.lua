-- Removes one version of a credential.
-- KEYS 1 credential (hash)   ARGV 1 version
-- Returns 1 when there is none now, 0 when another version stands there.
local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
