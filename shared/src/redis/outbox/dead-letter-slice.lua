-- requires: client/clock
-- Lists the dead letters of the last `keepMs`, in an order ('newest' or 'oldest' first), beginning at the time `from`
-- (ms, or ''). Returns {delivery, time, details JSON, delivery, ...}.
local letters, details = KEYS[1], KEYS[2]
local keepMs, order, from, skipped, limit = unpack(ARGV)
local expired = readClock() - keepMs
local earliest = '(' .. string.format('%.0f', expired)
-- A cursor may be older than every letter that is kept.
if order == 'oldest' and from ~= '' and tonumber(from) <= expired then from = '' end
local found
if order == 'newest' then
  found = redis.call('ZRANGE', letters, from == '' and '+inf' or from, earliest, 'BYSCORE', 'REV', 'LIMIT', skipped, limit, 'WITHSCORES')
else
  found = redis.call('ZRANGE', letters, from == '' and earliest or from, '+inf', 'BYSCORE', 'LIMIT', skipped, limit, 'WITHSCORES')
end
local reply = {}
for index = 1, #found, 2 do
  local delivery, diedAt = found[index], found[index + 1]
  reply[#reply + 1] = delivery
  reply[#reply + 1] = diedAt
  reply[#reply + 1] = redis.call('HGET', details, delivery) or ''
end
return reply
