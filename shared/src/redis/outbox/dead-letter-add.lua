-- Keeps a dead letter, over one of the same delivery, and forgets some of those whose time is over.
-- KEYS 1 dead letters (zset)  2 their details (hash)
-- ARGV 1 delivery id   2 details (JSON)   3 how long it is kept, in ms   4 how many to forget at most
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local over = redis.call('ZRANGE', KEYS[1], '-inf', now - ARGV[3], 'BYSCORE', 'LIMIT', 0, ARGV[4])
for _, id in ipairs(over) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
-- Later than the one of before, so that the two can be told apart.
local before = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or nil)
if before and before >= now then now = before + 1 end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return now
