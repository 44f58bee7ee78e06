-- Piece: the tasks of an outbox, each of which is leased to one process at a time.
-- outbox: zset by the time (ms) at which tasks are due. tries: hash with, for each task, '<task>', the fencing token of its
-- last lease; '<task> tried', how often it was tried; '<task> lent', the end of the lease (ms) that has not
-- been reported on; '<task> noted', present where the task was noted again during that lease; '<task> failed', why the last
-- attempt failed; '<task> tenant', in whose list it is.
-- deliveries: zset of the tasks of a tenant that leave Parley, by the time (ms) at which each was first noted. It has what the
-- outboxes have, and expires only where they have lost something.

local function forgetLeases(tries, task)
  redis.call('HDEL', tries, task, task .. ' tried', task .. ' lent', task .. ' noted', task .. ' failed')
end

local function listTask(deliveries, tries, task, now)
  local kind, listedMs = string.match(task, '^%S+'), 30 * 86400 * 1000
  -- Tasks of these kinds lead to others within Parley.
  if kind == 'resume-run' or kind == 'a2a-push' then return end
  redis.call('ZADD', deliveries, 'NX', string.format('%.0f', now), task)
  redis.call('PEXPIRE', deliveries, listedMs)
  redis.call('HSET', tries, task .. ' tenant', string.match(deliveries, '[^:]*$'))
end

-- A process of an earlier version leaves the end of the lease as it is when it moves the task in the zset.
local function isLeased(outbox, tries, task, now)
  local lent = tonumber(redis.call('HGET', tries, task .. ' lent') or nil)
  return lent and lent > now and tonumber(redis.call('ZSCORE', outbox, task) or nil) == lent
end

-- Tells the processes that handle tasks that one is due in so many ms.
local function announceTask(outbox, inMs)
  redis.call('PUBLISH', string.match(outbox, '^(.-:outbox):'), string.format('%.0f', inMs))
end

-- Notes a task: due in `inMs`, or once the lease that is under way has ended. Earlier attempts no longer count. `deliveries`:
-- the list of its tenant, or nil.
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

-- Leases a due task for a time in ms. `microseconds`: the time, which differs for every lease, also when the task was
-- removed and noted again in between. Returns the fencing token, how often the task was tried, and the tenant in whose list it is,
-- or ''.
local function lend(outbox, tries, task, now, lease, microseconds)
  -- The holder died before it reported, and this lease includes what was noted since.
  if redis.call('HDEL', tries, task .. ' noted') == 1 then
    redis.call('HDEL', tries, task .. ' tried', task .. ' failed')
  end
  local token, lent = string.format('%.0f', microseconds), string.format('%.0f', now + lease)
  redis.call('ZADD', outbox, lent, task)
  redis.call('HSET', tries, task, token, task .. ' lent', lent)
  local tried, tenant = unpack(redis.call('HMGET', tries, task .. ' tried', task .. ' tenant'))
  return token, tried or 0, tenant or ''
end
