-- requires: client/clock
-- One page of an owner's records, newest first, ties by id: merges the sets in KEYS, filters, and reads the rows.
--
-- rowPrefix: the key of a row without its id. limit: the rows of a page. bytesMax: their total size; one row may exceed
-- it. examinedMax: the records that this call examines at most. cursorAt, cursorId: the place after which to continue,
-- or ''. conversationId: keeps only the rows of this conversation, or ''. idPrefix: keeps only ids with this prefix,
-- which names one family of records, or ''. ARGV after the named ones: the statuses to keep; if there are none, all are
-- kept, including those that only a newer version knows.
-- Returns {now, the cursor of the next page or '', rows...}; a row is {id, fields...}. now is 0 in a first page of all
-- families without rows.
local rowPrefix, limit, bytesMax, examinedMax, cursorAt, cursorId, conversationId, idPrefix = unpack(ARGV, 1, 8)
local firstStatus = 9
local CHUNK = 100
limit, bytesMax, examinedMax, cursorAt = tonumber(limit), tonumber(bytesMax), tonumber(examinedMax), tonumber(cursorAt)

local keptStatuses = {}
for index = firstStatus, #ARGV do keptStatuses[ARGV[index]] = true end

-- Iterates over the places of one set after the cursor; each call of the returned function moves to the next one.
local function placesOf(key)
  local offset, chunk, index = 0, {}, 1
  local function nextPlace()
    if index > #chunk then
      if offset > 0 and #chunk < 2 * CHUNK then return nil end
      chunk = redis.call('ZRANGE', key, cursorAt or '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, CHUNK, 'WITHSCORES')
      offset, index = offset + CHUNK, 1
      if #chunk == 0 then return nil end
    end
    local id, at = chunk[index], tonumber(chunk[index + 1])
    index = index + 2
    -- Places with the same time as the cursor may come before it.
    if cursorAt and at == cursorAt and id >= cursorId then return nextPlace() end
    return { id = id, at = at }
  end
  return nextPlace
end

local function isNewer(a, b)
  if a.at ~= b.at then return a.at > b.at end
  return a.id > b.id
end

local function isInConversation(key)
  local conversation = redis.call('HGET', key, 'conversationId')
  if conversation then return conversation == conversationId end
  -- Rows of earlier versions have the conversation only in their definition.
  local definition = redis.call('HGET', key, 'definition')
  return definition and cjson.decode(definition).conversationId == conversationId
end

local function isKept(id, key)
  if string.sub(id, 1, #idPrefix) ~= idPrefix then return false end
  if conversationId ~= '' and not isInConversation(key) then return false end
  local status = redis.call('HGET', key, 'status')
  return status and (#ARGV < firstStatus or keptStatuses[status])
end

local sets, heads = {}, {}
for index, key in ipairs(KEYS) do
  sets[index] = placesOf(key)
  heads[index] = sets[index]()
end

-- Takes the newest place of all sets. It is removed from every set that has it, because an interrupted repair may have listed
-- it in both.
local function takeNewest()
  local newest
  for index = 1, #KEYS do
    if heads[index] and (not newest or isNewer(heads[index], newest)) then newest = heads[index] end
  end
  for index = 1, #KEYS do
    if newest and heads[index] and heads[index].id == newest.id then heads[index] = sets[index]() end
  end
  return newest
end

local function cursorOf(place) return string.format('%.0f.%s', place.at, place.id) end

local rows, bytes, examined, lastRow = {}, 0, 0, nil
local place = takeNewest()
while place do
  local key = rowPrefix .. place.id
  if isKept(place.id, key) then
    if #rows == limit then return { (readClock()), cursorOf(lastRow), unpack(rows) } end
    bytes = bytes + redis.call('HSTRLEN', key, 'definition') + redis.call('HSTRLEN', key, 'settlement')
    if #rows > 0 and bytes > bytesMax then return { (readClock()), cursorOf(lastRow), unpack(rows) } end
    local row = redis.call('HGETALL', key)
    table.insert(row, 1, place.id)
    rows[#rows + 1] = row
    lastRow = place
  end
  examined = examined + 1
  if examined == examinedMax then return { (readClock()), cursorOf(place), unpack(rows) } end
  place = takeNewest()
end
-- Readers of inboxes, which list all families, need no time to show nothing; most of them look again and find nothing.
if #rows == 0 and not cursorAt and idPrefix == '' then return { 0, '' } end
return { (readClock()), '', unpack(rows) }
