-- requires: client/clock
-- Reads a hash and the clock together. Returns {now, field, value, ...}; only {now} when there is no such hash.
local hash = KEYS[1]
local reply = redis.call('HGETALL', hash)
table.insert(reply, 1, (readClock()))
return reply
