-- Makes what a flow has staged the usable credential.
-- KEYS 1 credential (hash)   2 staged (hash)   3 flows (zset)
-- ARGV 1 flow id   2 the flow as it is listed   3 what is staged, or ''   4 the same, sealed as the credential, or ''
-- Returns the version as text; '0' when nothing is staged and this flow did not get what stands there; '-1' when
--         something else is staged.
local staged = redis.call('HGET', KEYS[2], 'sealed')
local held = redis.call('HMGET', KEYS[1], 'version', 'flow')
if not staged then
  redis.call('ZREM', KEYS[3], ARGV[2])
  return held[2] == ARGV[1] and held[1] or '0'
end
if staged ~= ARGV[3] then return '-1' end
local clock = redis.call('TIME')
local version = math.max(clock[1] * 1000000 + clock[2], tonumber(held[1] or 0) + 1)
local text = string.format('%.0f', version)
local savedAt = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
redis.call('HSET', KEYS[1], 'sealed', ARGV[4], 'version', text, 'state', 'usable', 'savedAt', savedAt, 'flow', ARGV[1])
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return text
