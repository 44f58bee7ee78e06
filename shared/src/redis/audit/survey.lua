-- How some rows stand.
-- KEYS rows (hashes)
-- Returns {now, row...}; a row is {created at, expires at, settled at or '', ms it will live (-1: for ever), definition
--      or, once it ended, '', ms it is kept where that is not the retention}, and {} when there is none.
local clock = redis.call('TIME')
local reply = { clock[1] * 1000 + math.floor(clock[2] / 1000) }
for index, key in ipairs(KEYS) do
  -- What lies there may be no hash at all; that is then no row.
  local row = redis.pcall('HMGET', key, 'createdAt', 'expiresAt', 'settledAt', 'keptMs')
  if row.err or not row[1] then
    reply[index + 1] = {}
  else
    local definition = not row[3] and redis.call('HGET', key, 'definition')
    reply[index + 1] = { row[1], row[2] or '', row[3] or '', redis.call('PTTL', key), definition or '',
      row[4] or '' }
  end
end
return reply
