-- Notes a task anew, or says what became of it when it was handed out.
-- KEYS 1 outbox of its kind (zset by when due)  2 what is known of each (hash), as in outbox-take.lua
-- ARGV 1 task  2 'add', 'done', 'again' or 'back'  3 the hand-out that this is about; 0 for none  4 due again in ms
local task, what = ARGV[1], ARGV[2]
-- Handed out again, or added anew, since.
if what ~= 'add' and (redis.call('HGET', KEYS[2], task) or '0') ~= ARGV[3] then return end
if what == 'add' or what == 'done' then redis.call('HDEL', KEYS[2], task, task .. ' tried') end
if what == 'done' then return redis.call('ZREM', KEYS[1], task) end
if what == 'again' then redis.call('HINCRBY', KEYS[2], task .. ' tried', 1) end
local clock = redis.call('TIME')
local due = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[4]
if what == 'add' then redis.call('ZADD', KEYS[1], due, task) else redis.call('ZADD', KEYS[1], 'XX', due, task) end
