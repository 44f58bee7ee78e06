-- requires: client/clock, outbox/tasks
-- Adds a task, or records what became of a lease: 'done', 'again' (tried) or 'back' (not tried).
-- outbox: zset by the time (ms) at which tasks are due. tries: hash as in outbox/tasks. lease: the lease that is
-- reported on. A report on an older lease, or on a task that was removed, changes nothing; a task that was noted again
-- during the lease is due at once, whatever the report.
-- Returns 1 when the report made such a task due.
local outbox, tries = KEYS[1], KEYS[2]
local task, change, lease, dueInMs = unpack(ARGV)
local now = readClock()
if change == 'add' then return noteTask(outbox, tries, task, now) end
if redis.call('HGET', tries, task) ~= lease or not redis.call('ZSCORE', outbox, task) then return end
local isNoted = redis.call('HEXISTS', tries, task .. ' noted') == 1
if isNoted or change == 'done' then forgetLeases(tries, task) end
if isNoted then
  redis.call('ZADD', outbox, now, task)
  announceTask(outbox, 0)
  return 1
end
if change == 'done' then
  redis.call('ZREM', outbox, task)
else
  -- Without its token, the same report that is sent again counts nothing.
  redis.call('HDEL', tries, task, task .. ' lent')
  if change == 'again' then redis.call('HINCRBY', tries, task .. ' tried', 1) end
  redis.call('ZADD', outbox, 'XX', now + dueInMs, task)
  announceTask(outbox, dueInMs)
end
