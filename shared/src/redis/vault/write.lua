-- requires: client/clock, vault/store-usable
-- Stores a usable credential. expectedVersion: the version that it replaces (0: none), or '' for any.
-- Returns the new version as text; '0' when another version is stored.
local credential = KEYS[1]
local sealed, expectedVersion = unpack(ARGV)
local storedSealed, version = unpack(redis.call('HMGET', credential, 'sealed', 'version'))
-- No two seals are equal: an equal one is this write, sent a second time.
if storedSealed == sealed then return version end
if expectedVersion ~= '' and (version or '0') ~= expectedVersion then return '0' end
local newVersion = storeUsable(credential, sealed, version)
-- A refreshed credential still belongs to the flow that got it. One that replaces any version does not.
if expectedVersion == '' then redis.call('HDEL', credential, 'flow') end
return newVersion
