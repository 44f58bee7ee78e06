-- One row and the clock, read together.
-- KEYS 1 row (hash)
-- Returns {now, row fields...}; only {now} when there is no row.
local clock = redis.call('TIME')
local reply = redis.call('HGETALL', KEYS[1])
table.insert(reply, 1, clock[1] * 1000 + math.floor(clock[2] / 1000))
return reply
