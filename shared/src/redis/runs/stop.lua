-- requires: client/clock, outbox/tasks, tenants/tell-change
-- keys: run resumptions tries watched
-- args: detachedOwner resumeTask field
-- Asks a running turn to stop. A detached one is resumed for it: it may rest with no question whose end would do that.
--
-- detachedOwner: the owner of detached runs. resumeTask: outbox member that resumes the run, without the term
-- watched, field: see tenants/tell-change
-- Returns 1 when it runs, else 0.
local status, owner, term = unpack(redis.call('HMGET', key.run, 'status', 'owner', 'term'))
if status ~= 'running' then return 0 end
local now = readClock()
redis.call('HSET', key.run, 'stop', 1)
if owner == arg.detachedOwner then
  noteTask(key.resumptions, key.tries, arg.resumeTask .. ' ' .. term, now)
end
if isWatched(key.watched) then tellChange(key.watched, 'turn', 'changed', arg.field, now) end
return 1
