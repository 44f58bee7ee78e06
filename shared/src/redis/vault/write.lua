-- requires: client/clock, vault/store-usable
-- Stores a usable credential. expectedVersion: the version that it replaces (0: none), or '' for any. list: set of the
-- person's records. record: the credential's member of it. Returns the new version as text; '0' if another version is
-- stored.
local credential, list = unpack(KEYS)
local sealed, expectedVersion, record = unpack(ARGV)
local storedSealed, version = unpack(redis.call('HMGET', credential, 'sealed', 'version'))
-- Sealing never gives the same text twice, so an equal text means that this write was sent a second time.
if storedSealed == sealed then return version end
if expectedVersion ~= '' and (version or '0') ~= expectedVersion then return '0' end
redis.call('SADD', list, record)
local newVersion = storeUsable(credential, sealed, version)
-- A refreshed credential still belongs to the flow that obtained it; one that replaces any version does not.
if expectedVersion == '' then redis.call('HDEL', credential, 'flow') end
return newVersion
