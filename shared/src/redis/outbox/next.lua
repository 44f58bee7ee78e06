-- requires: client/clock
-- Returns the ms until the first task in the outboxes of KEYS (zsets by due time) is due; nothing if they are empty.
local first
for _, outbox in ipairs(KEYS) do
  local at = tonumber(redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')[2])
  if at and (not first or at < first) then first = at end
end
return first and math.max(0, math.ceil(first - readClock()))
