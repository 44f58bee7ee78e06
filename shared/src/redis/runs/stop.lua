-- requires: client/clock, outbox/tasks
-- keys: run resumptions tries
-- args: detachedOwner resumeTask
-- Asks a running turn to stop. A detached one is resumed for it: it may rest with no question whose end would do that.
--
-- detachedOwner: the owner of detached runs. resumeTask: outbox member that resumes the run, without the term
-- Returns 1 when it runs, else 0.
local status, owner, term = unpack(redis.call('HMGET', key.run, 'status', 'owner', 'term'))
if status ~= 'running' then return 0 end
redis.call('HSET', key.run, 'stop', 1)
if owner == arg.detachedOwner then
  noteTask(key.resumptions, key.tries, arg.resumeTask .. ' ' .. term, (readClock()))
end
return 1
