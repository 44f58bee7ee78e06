-- Asks a running turn to stop.
-- KEYS 1 run (hash)
-- Returns 1 when it runs, else 0.
if redis.call('HGET', KEYS[1], 'status') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'stop', 1)
return 1
