-- Hands out tasks that are due, and keeps them from others for a while.
-- KEYS 1 what is known of each (hash): '<task>' its hand-out, '<task> tried' how often it was tried
--      2.. outboxes, one for each kind (zset by when due)
-- ARGV 1 lease in ms  2.. how many of each kind at most
-- Returns triples of a task, its hand-out and how often it was tried.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
-- No two of a task are alike, also not when it was crossed off and noted anew in between.
local lease = string.format('%.0f', clock[1] * 1000000 + clock[2])
local taken = {}
for kind = 2, #KEYS do
  local room = tonumber(ARGV[kind])
  local tasks = room > 0 and redis.call('ZRANGEBYSCORE', KEYS[kind], '-inf', now, 'LIMIT', 0, room) or {}
  for _, task in ipairs(tasks) do
    redis.call('ZADD', KEYS[kind], now + ARGV[1], task)
    redis.call('HSET', KEYS[1], task, lease)
    taken[#taken + 1] = task
    taken[#taken + 1] = lease
    taken[#taken + 1] = redis.call('HGET', KEYS[1], task .. ' tried') or 0
  end
end
return taken
