-- Removes one version of a credential. list: set of the person's records; record: the credential as it is listed there.
-- lease: who refreshes the credential
-- Returns 1 when no credential is stored now, 0 when another version is stored.
local credential, list, lease = unpack(KEYS)
local version, record = unpack(ARGV)
local stored = redis.call('HGET', credential, 'version')
if stored and stored ~= version then return 0 end
redis.call('DEL', credential, lease)
redis.call('SREM', list, record)
return 1
