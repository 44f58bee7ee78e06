-- requires: client/clock
-- Lists dead letters that died within the last `keepMs`, newest first, beginning at `newest` (ms, or '+inf').
-- Returns {delivery, when it died, details JSON, delivery, ...}.
local letters, details = KEYS[1], KEYS[2]
local keepMs, newest, skipped, limit = unpack(ARGV)
local found = redis.call('ZRANGE', letters, newest, '(' .. string.format('%.0f', readClock() - keepMs), 'BYSCORE', 'REV',
  'LIMIT', skipped, limit, 'WITHSCORES')
local reply = {}
for index = 1, #found, 2 do
  local delivery, diedAt = found[index], found[index + 1]
  reply[#reply + 1] = delivery
  reply[#reply + 1] = diedAt
  reply[#reply + 1] = redis.call('HGET', details, delivery) or ''
end
return reply
