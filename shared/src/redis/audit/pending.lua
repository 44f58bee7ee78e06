-- requires: client/clock
-- Counts what the deadline indexes in KEYS (zsets) list. Returns {now, how many, the earliest deadline or ''}.
local count, earliest = 0, nil
if redis.call('EXISTS', unpack(KEYS)) == 0 then return { (readClock()), 0, '' } end
for _, deadlines in ipairs(KEYS) do
  -- A key that holds no zset is no index.
  local size = redis.pcall('ZCARD', deadlines)
  if type(size) ~= 'number' then size = 0 end
  if size > 0 then
    local deadline = tonumber(redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')[2])
    earliest = math.min(earliest or deadline, deadline)
  end
  count = count + size
end
return { (readClock()), count, earliest and string.format('%.0f', earliest) or '' }
