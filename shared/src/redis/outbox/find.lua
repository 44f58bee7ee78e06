-- requires: client/clock
-- Reads the states of tasks without changing them. KEYS: for each task its outbox and its tries, see outbox/tasks.
-- ARGV: the tasks. Returns the time (ms), and then for each task when it is due or '', the number of its attempts, when
-- its lease ends or '', and why the last attempt failed or ''.
local reply = { string.format('%.0f', readClock()) }
for index, task in ipairs(ARGV) do
  local outbox, tries = KEYS[2 * index - 1], KEYS[2 * index]
  local due = redis.call('ZSCORE', outbox, task)
  local tried, lent, failed = unpack(redis.call('HMGET', tries, task .. ' tried', task .. ' lent', task .. ' failed'))
  for _, each in ipairs({ due or '', tried or '0', lent or '', failed or '' }) do reply[#reply + 1] = each end
end
return reply
