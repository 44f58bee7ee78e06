-- requires: client/clock
-- Reads several rows and the clock together. Returns {now, fields...}: {field, value, ...} for each row, empty if it
-- does not exist.
local rows = KEYS
local reply = { (readClock()) }
for _, row in ipairs(rows) do reply[#reply + 1] = redis.call('HGETALL', row) end
return reply
