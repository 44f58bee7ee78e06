-- requires: client/clock
-- Reads a hash and the clock together. Returns {now, field, value, ...}; only {now} if the hash does not exist.
local hash = KEYS[1]
local reply = redis.call('HGETALL', hash)
table.insert(reply, 1, (readClock()))
return reply
