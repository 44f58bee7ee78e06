-- requires: client/clock
-- Counts the entries of the deadline indexes in KEYS (zsets). Returns {now, count, the earliest deadline or ''}.
local count, earliest = 0, nil
if redis.call('EXISTS', unpack(KEYS)) == 0 then return { (readClock()), 0, '' } end
for _, deadlines in ipairs(KEYS) do
  -- A key of another type is no index.
  local size = redis.pcall('ZCARD', deadlines)
  if type(size) ~= 'number' then size = 0 end
  if size > 0 then
    local deadline = tonumber(redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')[2])
    earliest = math.min(earliest or deadline, deadline)
  end
  count = count + size
end
return { (readClock()), count, earliest and string.format('%.0f', earliest) or '' }
