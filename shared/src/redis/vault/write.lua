-- Writes a credential, over anything or only over the version it was made from, and makes it usable.
-- KEYS 1 credential (hash)   ARGV 1 sealed   2 version that must stand there (0: none), or '' for any
-- Returns its version as text, '0' when another stands there.
local held = redis.call('HMGET', KEYS[1], 'sealed', 'version')
-- No two seals are equal: what stands there already is this very write, sent twice.
if held[1] == ARGV[1] then return held[2] end
if ARGV[2] ~= '' and (held[2] or '0') ~= ARGV[2] then return '0' end
-- The clock in microseconds, so that versions rise over a removal too.
local clock = redis.call('TIME')
local version = math.max(clock[1] * 1000000 + clock[2], tonumber(held[2] or 0) + 1)
local text = string.format('%.0f', version)
local savedAt = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
redis.call('HSET', KEYS[1], 'sealed', ARGV[1], 'version', text, 'state', 'usable', 'savedAt', savedAt)
-- A refresh is still of the flow that got the credential; what is written over anything is not.
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'flow') end
return text
