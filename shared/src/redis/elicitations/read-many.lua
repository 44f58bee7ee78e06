-- requires: client/clock
-- Reads several rows and the clock together. Returns {now, fields...}: for each row {field, value, ...}, empty when there is
-- no such row.
local rows = KEYS
local reply = { (readClock()) }
for _, row in ipairs(rows) do reply[#reply + 1] = redis.call('HGETALL', row) end
return reply
