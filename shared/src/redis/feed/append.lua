-- Piece: appending to a feed. A feed is a stream whose entry ids are <epoch>-<sequence number>.
-- Events are flat lists: name, JSON, name, JSON, ...

-- Begins a feed. Its epoch is the microsecond of its beginning: a feed that was lost and begun again has another epoch.
local function beginFeed(key, microseconds)
  return { key = key, epoch = string.format('%.0f', microseconds), seq = 0 }
end

-- Opens a feed at its last entry; begins one where there is none.
local function openFeed(key, microseconds)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if not last then return beginFeed(key, microseconds) end
  local epoch, seq = string.match(last[1], '^(%d+)-(%d+)$')
  return { key = key, epoch = epoch, seq = tonumber(seq) }
end

-- Bytes of the events from the `first`-th on, as a feed counts them.
local function countBytes(events, first)
  local bytes = 0
  for index = 2 * first, #events, 2 do bytes = bytes + #events[index] end
  return bytes
end

-- Appends the events from the `first`-th on. With `keep` the oldest entries beyond about that many leave.
local function appendEvents(feed, now, events, first, keep)
  for index = 2 * first, #events, 2 do
    feed.seq = feed.seq + 1
    feed.position = feed.epoch .. '-' .. string.format('%.0f', feed.seq)
    if keep then
      redis.call('XADD', feed.key, 'MAXLEN', '~', keep, feed.position,
        'event', events[index - 1], 'at', now, 'data', events[index])
    else
      redis.call('XADD', feed.key, feed.position, 'event', events[index - 1], 'at', now, 'data', events[index])
    end
  end
end

-- Publishes the wake for the last appended event, if there is one: '<position> <ms> <JSON>'.
local function publishWake(feed, now, tail, channel, otherChannel)
  if not feed.position then return end
  local wake = feed.position .. ' ' .. now .. ' ' .. tail
  redis.call('PUBLISH', channel, wake)
  if otherChannel then redis.call('PUBLISH', otherChannel, wake) end
end
