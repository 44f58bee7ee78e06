-- Piece: the tasks of an outbox, each of which is leased to one process at a time.
-- outbox: zset by due time (ms).
-- tries: hash with fields for each task: '<task>', the fencing token of its last lease; '<task> tried', the number of its
-- attempts; '<task> lent', when the lease ends (ms) on which no report has come; '<task> noted', present if the task was noted
-- again during that lease; '<task> failed', why the last attempt failed; '<task> tenant', whose list contains it.
-- deliveries: zset of a tenant's tasks that leave Parley, by the time (ms) at which each was first noted. It has the tasks of
-- the outboxes, and expires only if those have lost something.

local function forgetLeases(tries, task)
  redis.call('HDEL', tries, task, task .. ' tried', task .. ' lent', task .. ' noted', task .. ' failed')
end

local function listTask(deliveries, tries, task, now)
  local kind, listedMs = string.match(task, '^%S+'), 30 * 86400 * 1000
  -- Tasks of these kinds only lead to other tasks inside Parley.
  if kind == 'resume-run' or kind == 'a2a-push' then return end
  redis.call('ZADD', deliveries, 'NX', string.format('%.0f', now), task)
  redis.call('PEXPIRE', deliveries, listedMs)
  redis.call('HSET', tries, task .. ' tenant', string.match(deliveries, '[^:]*$'))
end

-- A process of an earlier version moves the task in the zset without updating the end of its lease.
local function isLeased(outbox, tries, task, now)
  local lent = tonumber(redis.call('HGET', tries, task .. ' lent') or nil)
  return lent and lent > now and tonumber(redis.call('ZSCORE', outbox, task) or nil) == lent
end

-- Announces to all processes that a task is due in `inMs`.
local function announceTask(outbox, inMs)
  redis.call('PUBLISH', string.match(outbox, '^(.-:outbox):'), string.format('%.0f', inMs))
end

-- Notes a task. It is due in `inMs`, or once the present lease has ended, and its attempts count from zero. `deliveries`: the
-- list of its tenant, or nil.
local function noteTask(outbox, tries, task, now, inMs, deliveries)
  if isLeased(outbox, tries, task, now) then
    redis.call('HSET', tries, task .. ' noted', 1)
  else
    forgetLeases(tries, task)
    redis.call('ZADD', outbox, string.format('%.0f', now + (inMs or 0)), task)
    announceTask(outbox, inMs or 0)
  end
  if deliveries then listTask(deliveries, tries, task, now) end
end

-- Leases a due task for a time in ms. The token of the lease is `microseconds`, the time, which differs for every lease, even
-- after the task was removed and noted again. Returns the token, the number of attempts, and the tenant whose list contains the
-- task or ''.
local function lend(outbox, tries, task, now, lease, microseconds)
  -- The previous holder died before reporting. The new lease also covers what was noted since, so its attempts start at zero.
  if redis.call('HDEL', tries, task .. ' noted') == 1 then
    redis.call('HDEL', tries, task .. ' tried', task .. ' failed')
  end
  local token, lent = string.format('%.0f', microseconds), string.format('%.0f', now + lease)
  redis.call('ZADD', outbox, lent, task)
  redis.call('HSET', tries, task, token, task .. ' lent', lent)
  local tried, tenant = unpack(redis.call('HMGET', tries, task .. ' tried', task .. ' tenant'))
  return token, tried or 0, tenant or ''
end
