-- Removes a dead letter; with `diedAt` (ms, '' for any) only if it has that time. Returns 1 if it existed.
local letters, details = KEYS[1], KEYS[2]
local delivery, diedAt = unpack(ARGV)
local found = redis.call('ZSCORE', letters, delivery)
if not found or (diedAt ~= '' and tonumber(found) ~= tonumber(diedAt)) then return 0 end
redis.call('ZREM', letters, delivery)
redis.call('HDEL', details, delivery)
return 1
