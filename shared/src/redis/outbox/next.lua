-- requires: client/clock
-- In how many ms the first task of the outboxes in KEYS (zsets by the time at which tasks are due) is due; nothing when they are
-- empty.
local first
for _, outbox in ipairs(KEYS) do
  local at = tonumber(redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')[2])
  if at and (not first or at < first) then first = at end
end
return first and math.max(0, math.ceil(first - readClock()))
