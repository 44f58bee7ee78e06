-- requires: client/clock, tenants/scores
-- Returns the first entries of several lists of one tenant, merged. KEYS: the lists (zsets) with the scores of
-- tenants/scores.
-- state: 'open' or 'ended'. direction: 'up' or 'down' through the scores. afterScore, afterMember: the place after
-- which to continue, or ''. prefix: only members that begin with it, or ''. minAge, maxAge: bounds of the age in ms, or
-- ''. limit: the maximum number of entries.
-- Returns scores and members by turns.
local state, direction, afterScore, afterMember, prefix, minAge, maxAge, limit = unpack(ARGV, 1, 8)
local CHUNK = 16
local isUp = direction == 'up'
afterScore, minAge, maxAge, limit = tonumber(afterScore), tonumber(minAge), tonumber(maxAge), tonumber(limit)

local low, high = scoresOf(state, minAge, maxAge, (readClock()))
if afterScore and isUp then low = math.max(low, afterScore) end
if afterScore and not isUp then high = math.min(high, afterScore) end
local minimum, maximum = scoreText(low), scoreText(high)

-- Compares bytes, as a zset does. Lua itself compares texts by the locale of the server.
local function isLess(a, b)
  for at = 1, math.min(#a, #b) do
    local left, right = string.byte(a, at), string.byte(b, at)
    if left ~= right then return left < right end
  end
  return #a < #b
end

local function comesBefore(a, b)
  if a.score ~= b.score then return (a.score < b.score) == isUp end
  return a.member ~= b.member and isLess(a.member, b.member) == isUp
end

-- Iterates over the entries of one list; each call of the returned function moves to the next one.
local function placesOf(key)
  local offset, chunk, index = 0, {}, 1
  local function nextPlace()
    if index > #chunk then
      if offset > 0 and #chunk < 2 * CHUNK then return nil end
      if isUp then
        chunk = redis.call('ZRANGE', key, minimum, maximum, 'BYSCORE', 'LIMIT', offset, CHUNK, 'WITHSCORES')
      else
        chunk = redis.call('ZRANGE', key, maximum, minimum, 'BYSCORE', 'REV', 'LIMIT', offset, CHUNK, 'WITHSCORES')
      end
      offset, index = offset + CHUNK, 1
      if #chunk == 0 then return nil end
    end
    local place = { member = chunk[index], score = tonumber(chunk[index + 1]) }
    index = index + 2
    if prefix ~= '' and string.sub(place.member, 1, #prefix) ~= prefix then return nextPlace() end
    -- Entries with the same time may come before the place.
    if afterScore and not comesBefore({ score = afterScore, member = afterMember }, place) then return nextPlace() end
    return place
  end
  return nextPlace
end

local lists, heads = {}, {}
for _, key in ipairs(KEYS) do
  local nextPlace = placesOf(key)
  local head = nextPlace()
  if head then
    lists[#lists + 1] = nextPlace
    heads[#heads + 1] = head
  end
end

local reply = {}
while #reply < 2 * limit and #heads > 0 do
  local first = 1
  for index = 2, #heads do
    if comesBefore(heads[index], heads[first]) then first = index end
  end
  reply[#reply + 1] = string.format('%.0f', heads[first].score)
  reply[#reply + 1] = heads[first].member
  local head = lists[first]()
  if head then
    heads[first] = head
  else
    table.remove(heads, first)
    table.remove(lists, first)
  end
end
return reply
