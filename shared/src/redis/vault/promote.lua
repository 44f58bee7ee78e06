-- requires: client/clock, vault/store-usable
-- Makes what a flow has staged the usable credential.
-- flow: the flow as it is listed in `flows`, and in `list`, the set of the person's records; record: the credential as it
-- is listed there. expected: what must be staged, or ''. sealed: the same, sealed for the credential's key, or ''
-- Returns the version as text; '0' when nothing is staged and the stored credential is not this flow's; '-1' when something
--         else is staged.
local credential, staged, flows, list = unpack(KEYS)
local flowId, flow, expected, sealed, record = unpack(ARGV)
local stagedSealed = redis.call('HGET', staged, 'sealed')
local version, versionFlow = unpack(redis.call('HMGET', credential, 'version', 'flow'))
if not stagedSealed then
  redis.call('ZREM', flows, flow)
  redis.call('SREM', list, flow)
  return versionFlow == flowId and version or '0'
end
if stagedSealed ~= expected then return '-1' end
local newVersion = storeUsable(credential, sealed, version)
redis.call('HSET', credential, 'flow', flowId)
redis.call('DEL', staged)
redis.call('ZREM', flows, flow)
redis.call('SREM', list, flow)
redis.call('SADD', list, record)
return newVersion
