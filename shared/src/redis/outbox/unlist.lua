-- Removes a task from the list of its tenant, unless it is outstanding. deliveries, tries: see outbox/tasks. outbox: zset of tasks.
local deliveries, outbox, tries, task = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
if redis.call('ZSCORE', outbox, task) then return end
redis.call('ZREM', deliveries, task)
redis.call('HDEL', tries, task .. ' failed', task .. ' tenant')
