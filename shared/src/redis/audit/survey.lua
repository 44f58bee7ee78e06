-- requires: client/clock
-- Reads the state of the rows in KEYS (hashes).
-- Returns {now, row...}. A row is {created at, expires at, settled at or '', time to live in ms (-1: none), the
-- definition of an open row or '', how long an ended row is kept in ms if not for the retention}; {} if there is none.
local rows = KEYS
local reply = { (readClock()) }
for index, key in ipairs(rows) do
  -- A key of another type is no row.
  local fields = redis.pcall('HMGET', key, 'createdAt', 'expiresAt', 'settledAt', 'keptMs')
  if fields.err or not fields[1] then
    reply[index + 1] = {}
  else
    local createdAt, expiresAt, settledAt, keptMs = unpack(fields)
    local definition = not settledAt and redis.call('HGET', key, 'definition')
    reply[index + 1] = { createdAt, expiresAt or '', settledAt or '', redis.call('PTTL', key), definition or '',
      keptMs or '' }
  end
end
return reply
