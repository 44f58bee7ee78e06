-- Removes one version of a credential. list: set of the person's records. record: the credential's member of it. lease: the key
-- of the process that is refreshing the credential. Returns 1 if no credential is stored now, 0 if another version is.
local credential, list, lease = unpack(KEYS)
local version, record = unpack(ARGV)
local stored = redis.call('HGET', credential, 'version')
if stored and stored ~= version then return 0 end
redis.call('DEL', credential, lease)
redis.call('SREM', list, record)
return 1
