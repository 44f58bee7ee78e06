-- Piece: appending to a feed. A feed is a stream whose entry ids are <epoch>-<sequence number>. The last six digits of a
-- sequence number are the microsecond within the second of the write, the digits before them the number of the event: a
-- feed that lost its last events never gives the id of one to another. Older versions wrote the number alone.
-- Events are flat lists: name, JSON, name, JSON, ...

-- Bytes of the events from the `first`-th on, as a feed counts them.
local function countBytes(events, first)
  local bytes = 0
  for index = 2 * first, #events, 2 do bytes = bytes + #events[index] end
  return bytes
end

-- Epoch and number of the event at a position.
local function splitPosition(position)
  local epoch, seq = string.match(position, '^(%d+)-(%d+)$')
  seq = tonumber(seq)
  return epoch, seq < 1000000 and seq or math.floor(seq / 1000000)
end

-- Epoch of a feed and number of its last event. The epoch of a new feed is the microsecond of its beginning, so that a feed
-- which was lost and begun again has another epoch.
local function findFeedEnd(key, microseconds)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if not last then return string.format('%.0f', microseconds), 0 end
  return splitPosition(last[1])
end

-- As findFeedEnd, for a feed that is never trimmed. `known` is the position of one of its events, or nothing. A feed of as
-- many events as that event's number ends with it, which takes less than to read the last event with its text.
local function findUntrimmedEnd(key, microseconds, known)
  if known then
    local epoch, number = splitPosition(known)
    if redis.call('XLEN', key) == number then return epoch, number end
  end
  return findFeedEnd(key, microseconds)
end

-- Appends the events from the `first`-th on after the event of the given number. With `keep` the oldest entries beyond
-- about that many are removed. Returns the position of the last event and its number.
local function appendEvents(key, epoch, number, microseconds, events, first, keep)
  local now, mark = math.floor(microseconds / 1000), microseconds % 1000000
  local position
  for index = 2 * first, #events, 2 do
    number = number + 1
    position = epoch .. '-' .. string.format('%.0f', number * 1000000 + mark)
    if keep then
      redis.call('XADD', key, 'MAXLEN', '~', keep, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    else
      redis.call('XADD', key, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    end
  end
  return position, number
end

-- Publishes a wake on one channel or two: '<position> <ms> <JSON>'.
local function publishWake(position, now, tail, channel, otherChannel)
  local wake = position .. ' ' .. now .. ' ' .. tail
  redis.call('PUBLISH', channel, wake)
  if otherChannel then redis.call('PUBLISH', otherChannel, wake) end
end
