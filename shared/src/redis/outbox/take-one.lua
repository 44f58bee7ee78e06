-- requires: client/clock, outbox/tasks
-- Leases one task for a time in ms, if it is due. outbox: zset by due time (ms). tries: hash as in outbox/tasks.
-- Returns {fencing token, number of attempts, the tenant whose list contains the task or ''}; nothing if it is leased,
-- deferred or does not exist.
local outbox, tries = KEYS[1], KEYS[2]
local task, lease = ARGV[1], ARGV[2]
local now, microseconds = readClock()
local due = redis.call('ZSCORE', outbox, task)
if not due or tonumber(due) > now then return false end
return { lend(outbox, tries, task, now, lease, microseconds) }
