-- requires: client/clock
-- Reads a dead letter. Returns {its time, details JSON}; nothing if there is none, or `keepMs` have passed.
local letters, details = KEYS[1], KEYS[2]
local keepMs, delivery = unpack(ARGV)
local diedAt = redis.call('ZSCORE', letters, delivery)
if not diedAt or tonumber(diedAt) <= readClock() - keepMs then return false end
return { diedAt, redis.call('HGET', details, delivery) or '' }
