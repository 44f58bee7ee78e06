-- Asks a running turn to stop.
-- Returns 1 when it runs, else 0.
local run = KEYS[1]
if redis.call('HGET', run, 'status') ~= 'running' then return 0 end
redis.call('HSET', run, 'stop', 1)
return 1
