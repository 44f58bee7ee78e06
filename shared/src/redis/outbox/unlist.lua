-- Removes tasks from the list of their tenant, unless they are outstanding.
-- deliveries, tries: see outbox/tasks. KEYS beyond these: the outbox of each task (zset of tasks). ARGV: the tasks.
-- Returns how many were removed.
local deliveries, tries = KEYS[1], KEYS[2]
local removed = 0
for index, task in ipairs(ARGV) do
  if not redis.call('ZSCORE', KEYS[index + 2], task) then
    removed = removed + redis.call('ZREM', deliveries, task)
    redis.call('HDEL', tries, task .. ' failed', task .. ' tenant')
  end
end
return removed
