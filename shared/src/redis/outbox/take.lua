-- requires: client/clock, outbox/tasks
-- Leases tasks that are due, and keeps them from other callers for a time in ms.
-- tries: hash as in outbox/tasks.
-- KEYS beyond the named one: outboxes, one for each kind (zsets by the time at which tasks are due). ARGV beyond the named
-- one: how many tasks of each kind at most.
-- Returns fours: task, fencing token, how often it was tried, the tenant in whose list it is or ''.
local tries, lease = KEYS[1], ARGV[1]
-- Most looks find nothing.
if redis.call('EXISTS', unpack(KEYS, 2)) == 0 then return {} end
local now, microseconds = readClock()
local taken = {}
for index = 2, #KEYS do
  local outbox, room = KEYS[index], tonumber(ARGV[index])
  local tasks = room > 0 and redis.call('ZRANGEBYSCORE', outbox, '-inf', now, 'LIMIT', 0, room) or {}
  for _, task in ipairs(tasks) do
    local token, tried, tenant = lend(outbox, tries, task, now, lease, microseconds)
    taken[#taken + 1] = task
    taken[#taken + 1] = token
    taken[#taken + 1] = tried
    taken[#taken + 1] = tenant
  end
end
return taken
