-- Removes what a flow has staged.
-- flows: zset of the flows that have something staged; flow: the flow as it is listed there.
-- Returns 0 when nothing is staged because the flow was promoted, else 1.
local credential, staged, flows = unpack(KEYS)
local flowId, flow = unpack(ARGV)
redis.call('ZREM', flows, flow)
if redis.call('DEL', staged) == 1 then return 1 end
return redis.call('HGET', credential, 'flow') == flowId and 0 or 1
