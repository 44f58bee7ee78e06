-- Piece: appending to a feed. A feed is a stream whose entry ids are <epoch>-<sequence number>. The last six digits of a
-- sequence number are the microsecond within the second of the write, and the digits before them are the number of the event. A
-- feed that lost its last events therefore never gives the same id to another event. Older versions wrote the number alone.
-- Events are flat lists: name, JSON, name, JSON, ...

-- The bytes of the events from the `first` one on, as feeds count them.
local function countBytes(events, first)
  local bytes = 0
  for index = 2 * first, #events, 2 do bytes = bytes + #events[index] end
  return bytes
end

-- The epoch and the number of the event at a position.
local function splitPosition(position)
  local epoch, seq = string.match(position, '^(%d+)-(%d+)$')
  seq = tonumber(seq)
  return epoch, seq < 1000000 and seq or math.floor(seq / 1000000)
end

-- The epoch of a feed and the number of its last event. The epoch of a new feed is the microsecond of its start, so that a feed
-- that was lost and started again has another epoch.
local function findFeedEnd(key, microseconds)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if not last then return string.format('%.0f', microseconds), 0 end
  return splitPosition(last[1])
end

-- The same as findFeedEnd, computed from the length of the feed, which is cheaper than reading its last event. `knownEpoch`:
-- the former epoch of the feed, or nil. `keep`: how many of its events are kept at least. Returns nothing if events may have
-- been trimmed. The result is wrong if events were removed by hand or the feed was started again. Then Redis refuses the next
-- event, or its number repeats or skips some; its position is later than the last one in any case.
local function countFeedEnd(key, knownEpoch, keep)
  local length = knownEpoch and redis.call('XLEN', key) or 0
  if length > 0 and length < tonumber(keep) then return knownEpoch, length end
end

-- Appends the events from the `first` one on after the event with the given number. With `keep`, every sixteenth event removes
-- the oldest entries beyond about that many. Returns the position of the last event and its number. `call` is redis.call or
-- redis.pcall; with the latter, returns nothing if Redis refuses the first event.
local function appendAfter(call, key, epoch, number, microseconds, events, first, keep)
  local now, mark = math.floor(microseconds / 1000), microseconds % 1000000
  local position
  for index = 2 * first, #events, 2 do
    number = number + 1
    position = epoch .. '-' .. string.format('%.0f', number * 1000000 + mark)
    local added
    if keep and number % 16 == 0 then
      added = call('XADD', key, 'MAXLEN', '~', keep, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    else
      added = call('XADD', key, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    end
    if type(added) == 'table' then return nil end
    call = redis.call
  end
  return position, number
end

-- Appends the events from the `first` one on to a feed. `knownEpoch`: the former epoch of the feed, or nil. `keep`: how many
-- events are kept at least, or nil to keep all. Returns the same as appendAfter.
local function appendEvents(key, knownEpoch, microseconds, events, first, keep)
  local epoch, number = countFeedEnd(key, knownEpoch, keep or math.huge)
  if epoch then
    -- Redis refuses an event whose id is not later than the last one.
    local position, last = appendAfter(redis.pcall, key, epoch, number, microseconds, events, first, keep)
    if position then return position, last end
  end
  epoch, number = findFeedEnd(key, microseconds)
  return appendAfter(redis.call, key, epoch, number, microseconds, events, first, keep)
end

-- Publishes a wake on one or two channels: '<position> <ms> <JSON>'.
local function publishWake(position, now, tail, channel, otherChannel)
  local wake = position .. ' ' .. now .. ' ' .. tail
  redis.call('PUBLISH', channel, wake)
  if otherChannel then redis.call('PUBLISH', otherChannel, wake) end
end
