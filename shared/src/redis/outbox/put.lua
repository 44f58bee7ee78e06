-- requires: client/clock, outbox/tasks, tenants/tell-change
-- keys: outbox tries
-- args: task change lease dueInMs failed
-- Adds a task, or reports on a lease: 'done', 'again' (an attempt was made), 'back' (none was made), or 'rest' (done,
-- but due again).
-- outbox: zset by due time (ms). tries: hash as in outbox/tasks. lease: the lease of the report. A report on an older
-- lease or on a removed task changes nothing. A task that was noted again during the lease is due at once, whatever the
-- report. failed: why the attempt failed, or ''.
-- KEYS after the named ones, for a task in a tenant's list: `deliveries`, see outbox/tasks, and `watched`, see
-- tenants/tell-change. Returns 1 if the report made a task due that was noted again.
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
-- Removing the token makes a repeat of the same report count nothing.
redis.call('HDEL', tries, task, task .. ' lent')
if change == 'again' then redis.call('HINCRBY', tries, task .. ' tried', 1) end
if arg.failed ~= '' then redis.call('HSET', tries, task .. ' failed', arg.failed) end
redis.call('ZADD', outbox, 'XX', now + arg.dueInMs, task)
if deliveries then listTask(deliveries, tries, task, now) end
announceTask(outbox, arg.dueInMs)
if arg.failed ~= '' then tell('changed') end
