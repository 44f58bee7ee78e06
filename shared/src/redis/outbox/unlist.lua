-- Removes tasks that are not outstanding from the list of their tenant. deliveries, tries: see outbox/tasks. KEYS after these:
-- the outbox of each task (zset). ARGV: the tasks. Returns the number of removed tasks.
local deliveries, tries = KEYS[1], KEYS[2]
local removed = 0
for index, task in ipairs(ARGV) do
  if not redis.call('ZSCORE', KEYS[index + 2], task) then
    removed = removed + redis.call('ZREM', deliveries, task)
    redis.call('HDEL', tries, task .. ' failed', task .. ' tenant')
  end
end
return removed
