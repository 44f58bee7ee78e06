-- requires: client/clock
-- keys: run feed
-- args: eventsMax rowsMax
-- Reads a run, the clock, the first events of its feed, and rows that these events concern. Sending the rows along
-- saves the reader a round trip; the reader reads any missing row itself. Returns {now, run fields, feed entries, id,
-- row fields, id, row fields, ...}, the rows of the latest events first.
local feed = redis.call('XRANGE', key.feed, '-', '+', 'COUNT', arg.eventsMax)
local reply = { (readClock()), redis.call('HGETALL', key.run), feed }
local rows = string.match(key.run, '^[^}]*}:') .. 'elicitation:'
local isRead, left = {}, tonumber(arg.rowsMax)
for index = #feed, 1, -1 do
  local data = feed[index][2][6] or ''
  local id = string.match(data, '^{"elicitationId":"([%w_-]+)"') or string.match(data, '^{"approvalId":"([%w_-]+)"')
  if id and not isRead[id] and left > 0 then
    isRead[id], left = true, left - 1
    reply[#reply + 1], reply[#reply + 2] = id, redis.call('HGETALL', rows .. id)
  end
end
return reply
