-- requires: client/clock, outbox/tasks, tenants/tell-change
-- keys: outbox tries
-- args: task change lease dueInMs failed
-- Adds a task, or records what became of a lease: 'done', 'again' (tried), 'back' (not tried), or 'rest' (done, and due again).
-- outbox: zset by the time (ms) at which tasks are due. tries: hash as in outbox/tasks. lease: the lease that is
-- reported on. A report on an older lease, or on a task that was removed, changes nothing; a task that was noted again
-- during the lease is due at once, whatever the report. failed: why the attempt failed, or ''.
-- KEYS beyond the named ones, for a task in the list of a tenant: `deliveries`, see outbox/tasks, and `watched`, see
-- tenants/tell-change.
-- Returns 1 when the report made such a task due.
local outbox, tries, task, change = key.outbox, key.tries, arg.task, arg.change
local deliveries, watched = KEYS[nextKey], KEYS[nextKey + 1]
local now = readClock()

local function tell(word)
  if watched and isWatched(watched) then
    tellChange(watched, 'delivery', word, string.match(task, '^%S+ (%S+)'), now)
  end
end

if change == 'add' then
  noteTask(outbox, tries, task, now, nil, deliveries)
  return tell('began')
end
if redis.call('HGET', tries, task) ~= arg.lease or not redis.call('ZSCORE', outbox, task) then return end
local isNoted = redis.call('HEXISTS', tries, task .. ' noted') == 1
local isDone = change == 'done' or change == 'rest'
if isNoted or isDone then forgetLeases(tries, task) end
if isNoted then
  redis.call('ZADD', outbox, now, task)
  announceTask(outbox, 0)
  return 1
end
if isDone then
  if change == 'done' then
    redis.call('ZREM', outbox, task)
  else
    redis.call('ZADD', outbox, 'XX', now + arg.dueInMs, task)
    announceTask(outbox, arg.dueInMs)
  end
  if deliveries then
    redis.call('ZREM', deliveries, task)
    redis.call('HDEL', tries, task .. ' tenant')
    tell('ended')
  end
  return
end
-- Without its token, the same report that is sent again counts nothing.
redis.call('HDEL', tries, task, task .. ' lent')
if change == 'again' then redis.call('HINCRBY', tries, task .. ' tried', 1) end
if arg.failed ~= '' then redis.call('HSET', tries, task .. ' failed', arg.failed) end
redis.call('ZADD', outbox, 'XX', now + arg.dueInMs, task)
if deliveries then listTask(deliveries, tries, task, now) end
announceTask(outbox, arg.dueInMs)
if arg.failed ~= '' then tell('changed') end
