-- requires: client/clock
-- Stores a dead letter for `keepMs`, in place of an earlier one of the same delivery, and removes up to `removeMax`
-- expired letters. letters: zset by the times at which delivery was given up. details: hash with the details of each
-- letter (JSON). Returns the time of this letter.
local letters, details = KEYS[1], KEYS[2]
local delivery, detailsJson, keepMs, removeMax = unpack(ARGV)
local now = readClock()
local expired = redis.call('ZRANGE', letters, '-inf', now - keepMs, 'BYSCORE', 'LIMIT', 0, removeMax)
for _, id in ipairs(expired) do
  redis.call('ZREM', letters, id)
  redis.call('HDEL', details, id)
end
-- The time is always later than that of the replaced letter, so that the two can be told apart.
local earlier = tonumber(redis.call('ZSCORE', letters, delivery) or nil)
local diedAt = earlier and earlier >= now and earlier + 1 or now
redis.call('ZADD', letters, diedAt, delivery)
redis.call('HSET', details, delivery, detailsJson)
redis.call('PEXPIRE', letters, keepMs)
redis.call('PEXPIRE', details, keepMs)
return diedAt
