-- requires: client/clock, outbox/tasks, tenants/tell-change
-- keys: run resumptions tries watched
-- args: detachedOwner resumeTask field
-- Requests a running turn to stop. A detached turn is also resumed, because it may be resting without a question whose
-- end would resume it.
--
-- detachedOwner: the owner of detached runs. resumeTask: outbox member that resumes the run, without the term. watched,
-- field: see tenants/tell-change. Returns 1 if the turn is running, else 0.
local status, owner, term = unpack(redis.call('HMGET', key.run, 'status', 'owner', 'term'))
if status ~= 'running' then return 0 end
local now = readClock()
redis.call('HSET', key.run, 'stop', 1)
if owner == arg.detachedOwner then
  noteTask(key.resumptions, key.tries, arg.resumeTask .. ' ' .. term, now)
end
if isWatched(key.watched) then tellChange(key.watched, 'turn', 'changed', arg.field, now) end
return 1
