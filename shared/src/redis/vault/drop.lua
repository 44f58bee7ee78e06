-- Removes a flow's staged credential. flows: zset of the flows with a staged credential. list: set of the person's records.
-- flow: the member of the flow in both. Returns 0 if nothing is staged because the flow was promoted, else 1.
local credential, staged, flows, list = unpack(KEYS)
local flowId, flow = unpack(ARGV)
redis.call('ZREM', flows, flow)
redis.call('SREM', list, flow)
if redis.call('DEL', staged) == 1 then return 1 end
return redis.call('HGET', credential, 'flow') == flowId and 0 or 1
