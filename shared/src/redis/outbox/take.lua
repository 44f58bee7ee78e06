-- requires: client/clock, outbox/tasks
-- Leases due tasks for a time in ms, so that no other caller gets them. tries: hash as in outbox/tasks.
-- KEYS after the named one: outboxes, one for each kind (zsets by due time). ARGV after the named one: the maximum
-- number of tasks of each kind. Returns groups of four: task, fencing token, number of attempts, the tenant whose list
-- contains the task or ''.
local tries, lease = KEYS[1], ARGV[1]
-- Most calls find nothing, so the cheapest check comes first.
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
