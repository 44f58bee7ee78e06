-- requires: client/clock
-- Adds a task, or records what became of a hand-out: 'done', 'again' (tried) or 'back' (not tried).
-- outbox: zset by the time (ms) at which tasks are due. tries: hash as in outbox/take.lua. lease: the hand-out that is
-- reported on; 0 for a task that was not handed out. A report on an older hand-out, or on a task that was removed, changes
-- nothing.
local outbox, tries = KEYS[1], KEYS[2]
local task, change, lease, dueInMs = unpack(ARGV)
if change ~= 'add' and (redis.call('HGET', tries, task) or '0') ~= lease then return end
if change ~= 'add' and not redis.call('ZSCORE', outbox, task) then return end
if change == 'add' or change == 'done' then redis.call('HDEL', tries, task, task .. ' tried') end
if change == 'done' then return redis.call('ZREM', outbox, task) end
if change == 'again' then redis.call('HINCRBY', tries, task .. ' tried', 1) end
local due = readClock() + dueInMs
if change == 'add' then redis.call('ZADD', outbox, due, task) else redis.call('ZADD', outbox, 'XX', due, task) end
