-- requires: client/clock, vault/store-usable
-- Makes a flow's staged credential the usable one.
-- flow: the member of the flow in `flows` and in `list`, the set of the person's records. record: the member of the
-- credential in `list`. expected: the text that must be staged, or ''. sealed: the same credential, sealed for its
-- final key, or ''.
-- Returns the version as text; '0' if nothing is staged and the stored credential is not this flow's; '-1' if something
-- else is staged.
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
