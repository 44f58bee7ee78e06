-- requires: client/clock
-- Hands out tasks that are due, and keeps them from other callers for a lease in ms.
-- tries: hash with '<task>', the fencing token of its last hand-out, and '<task> tried', how often it was tried.
-- KEYS beyond the named one: outboxes, one for each kind (zsets by the time at which tasks are due). ARGV beyond the named
-- one: how many tasks of each kind at most.
-- Returns triples: task, fencing token, how often it was tried.
local tries, lease = KEYS[1], ARGV[1]
local now, microseconds = readClock()
-- The microsecond differs for every hand-out, also when a task was removed and added again in between.
local token = string.format('%.0f', microseconds)
local taken = {}
for index = 2, #KEYS do
  local outbox, room = KEYS[index], tonumber(ARGV[index])
  local tasks = room > 0 and redis.call('ZRANGEBYSCORE', outbox, '-inf', now, 'LIMIT', 0, room) or {}
  for _, task in ipairs(tasks) do
    redis.call('ZADD', outbox, now + lease, task)
    redis.call('HSET', tries, task, token)
    taken[#taken + 1] = task
    taken[#taken + 1] = token
    taken[#taken + 1] = redis.call('HGET', tries, task .. ' tried') or 0
  end
end
return taken
