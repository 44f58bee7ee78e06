-- Piece: appending to a feed. A feed is a stream whose entry ids are <epoch>-<sequence number>.
-- Events are flat lists: name, JSON, name, JSON, ...

-- Bytes of the events from the `first`-th on, as a feed counts them.
local function countBytes(events, first)
  local bytes = 0
  for index = 2 * first, #events, 2 do bytes = bytes + #events[index] end
  return bytes
end

-- Epoch and last sequence number of a feed. The epoch of a new feed is the microsecond of its beginning, so that a feed
-- which was lost and begun again has another epoch.
local function findFeedEnd(key, microseconds)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if not last then return string.format('%.0f', microseconds), 0 end
  return string.match(last[1], '^(%d+)-(%d+)$')
end

-- Appends the events from the `first`-th on after the given end of the feed. With `keep` the oldest entries beyond about
-- that many are removed. Returns the position of the last event and its sequence number.
local function appendEvents(key, epoch, seq, now, events, first, keep)
  local position
  for index = 2 * first, #events, 2 do
    seq = seq + 1
    position = epoch .. '-' .. string.format('%.0f', seq)
    if keep then
      redis.call('XADD', key, 'MAXLEN', '~', keep, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    else
      redis.call('XADD', key, position, 'event', events[index - 1], 'at', now, 'data', events[index])
    end
  end
  return position, seq
end

-- Publishes a wake on one channel or two: '<position> <ms> <JSON>'.
local function publishWake(position, now, tail, channel, otherChannel)
  local wake = position .. ' ' .. now .. ' ' .. tail
  redis.call('PUBLISH', channel, wake)
  if otherChannel then redis.call('PUBLISH', otherChannel, wake) end
end
