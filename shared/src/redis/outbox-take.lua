-- Hands out tasks that are due, and keeps them from others for a while.
-- KEYS 1 outbox (zset by when due)  2 what is known of each (hash): '<task>' how often it was handed out, '<task> tried'
-- ARGV 1 how many at most  2 lease in ms
-- Returns triples of a task, how often it was handed out, this time included, and how often it was tried.
if tonumber(ARGV[1]) <= 0 then return {} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local tasks = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
local taken = {}
for _, task in ipairs(tasks) do
  redis.call('ZADD', KEYS[1], now + ARGV[2], task)
  taken[#taken + 1] = task
  taken[#taken + 1] = redis.call('HINCRBY', KEYS[2], task, 1)
  taken[#taken + 1] = redis.call('HGET', KEYS[2], task .. ' tried') or 0
end
return taken
