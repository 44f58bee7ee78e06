-- requires: client/clock, feed/append
-- One atomic step of one elicitation: compares the revision, writes the row, appends to the feed, updates the indexes,
-- notes outbox tasks, and publishes the wakes last. The rules live in domain/elicitations/transition.ts; this script only
-- compares, stamps the time and appends.
--
-- guard: 'open' (only before the deadline) or 'due' (only at or after it); ignored by a creation
-- creation: timeout in ms, definition JSON, most open elicitations per owner, most bytes of their definitions, conversation,
-- claimed stream request or '', idempotency key or ''
-- settling: settlement JSON, most ended elicitations per owner, how long the ended row stays in ms
-- inboxBytes: counter of the bytes of the owner's open definitions
-- armed: '<deadline in ms> <elicitation>', the deadline of the bucket for which a job was added
-- names: zset of what no other index of the owner lists, by the time (ms) until which it may stay, for erasures; nameLife:
-- that time from now. fence (creation only): exists after an erasure of the owner
-- KEYS and ARGV beyond the named ones: outboxes (zsets), and outbox members '<kind> <subject>...' to note in them. The
-- row's field `resumes` holds further members, a line each, which the end of the elicitation notes.
-- Returns {1, now, noted lines of `resumes`, 1 when a creation has armed its deadline and needs a job} when committed;
-- {0, now, row fields...} when the revision is another one or the guard does not hold; {-1, now} when the owner has too many
-- open elicitations, or too large ones; {-2, now, ms} when the owner was erased and the fence stays for so long.
local row, feed, inbox, history, deadlines, inboxBytes, armed, names, fence = unpack(KEYS, 1, 9)
local revision, guard, id, status, ends, eventName, eventJson, wakeJson, streamChannel, inboxChannel, retention,
  feedEventsMax = unpack(ARGV, 1, 12)
local timeout, definition, openMax, openBytesMax, conversationId = unpack(ARGV, 13, 17)
local settlement, endedMax, keptMs = unpack(ARGV, 13, 15)
local streamRequestId, idempotencyKey, nameLife = unpack(ARGV, 18, 20)
local firstTask = 21

local now, microseconds = readClock()
revision = tonumber(revision)
local creates = revision == 0
local firstOutbox = creates and 10 or 9
ends = ends == '1'
local currentRevision, expiresAt, createdAt, resumes = unpack(redis.call('HMGET', row, 'revision', 'expiresAt',
  'createdAt', 'resumes'))

local function refuse()
  local reply = redis.call('HGETALL', row)
  table.insert(reply, 1, 0)
  table.insert(reply, 2, now)
  return reply
end

if (tonumber(currentRevision) or 0) ~= revision then return refuse() end

-- Counts the open definitions anew: a commit of an earlier version, or a repair of the inbox, did not count.
local function recountInbox()
  local prefix = string.sub(row, 1, #row - #id)
  local bytes = 0
  for _, openId in ipairs(redis.call('ZRANGE', inbox, 0, -1)) do
    bytes = bytes + redis.call('HSTRLEN', prefix .. openId, 'definition')
  end
  redis.call('SET', inboxBytes, bytes)
  return bytes
end

local isTrimmed = false
local function addName(name)
  if not isTrimmed then redis.call('ZREMRANGEBYSCORE', names, '-inf', now) end
  isTrimmed = true
  redis.call('ZADD', names, now + nameLife, name)
  if redis.call('PTTL', names) < tonumber(nameLife) then redis.call('PEXPIRE', names, nameLife) end
end

local feedTtl = tonumber(retention)
local arms = 0
if creates then
  local fencedFor = redis.call('PTTL', fence)
  if fencedFor > 0 then return { -2, now, fencedFor } end
  if redis.call('ZCARD', inbox) >= tonumber(openMax) then return { -1, now } end
  local spaceLeft = openBytesMax - #definition
  if tonumber(redis.call('GET', inboxBytes) or 0) > spaceLeft and recountInbox() > spaceLeft then return { -1, now } end
  expiresAt = now + tonumber(timeout)
  feedTtl = feedTtl + tonumber(timeout)
  redis.call('HSET', row, 'status', status, 'revision', 1, 'createdAt', now, 'expiresAt', expiresAt,
    'definition', definition, 'conversationId', conversationId)
  redis.call('ZADD', inbox, now, id)
  redis.call('INCRBY', inboxBytes, #definition)
  if redis.call('PTTL', inboxBytes) < feedTtl then redis.call('PEXPIRE', inboxBytes, feedTtl) end
  redis.call('ZADD', deadlines, expiresAt, id)
  local armedAt = tonumber(string.match(redis.call('GET', armed) or '', '^%d+'))
  -- The job of a deadline that has passed may be lost with its worker.
  if not armedAt or armedAt > expiresAt or armedAt <= now then
    redis.call('SET', armed, string.format('%.0f %s', expiresAt, id))
    arms = 1
  end
  if streamRequestId ~= '' then addName('stream ' .. streamRequestId) end
  if idempotencyKey ~= '' then addName('key ' .. id .. ' ' .. idempotencyKey) end
else
  local isDue = now >= tonumber(expiresAt)
  if isDue ~= (guard == 'due') then return refuse() end
  if ends then
    redis.call('HSET', row, 'status', status, 'revision', revision + 1, 'settlement', settlement, 'settledAt', now)
    if redis.call('ZREM', inbox, id) == 1 then
      local bytes = redis.call('DECRBY', inboxBytes, redis.call('HSTRLEN', row, 'definition'))
      if bytes <= 0 then redis.call('DEL', inboxBytes) end
    end
    redis.call('ZREM', deadlines, id)
    redis.call('ZADD', history, createdAt, id)
    local beyond = redis.call('ZCARD', history) - endedMax
    if beyond > 0 then
      local oldest = redis.call('ZPOPMIN', history, beyond)
      for index = 1, #oldest, 2 do addName('elicitation ' .. oldest[index]) end
    end
    redis.call('PEXPIRE', history, retention)
    redis.call('PEXPIRE', row, keptMs)
    if keptMs ~= retention then
      redis.call('HSET', row, 'keptMs', keptMs)
      addName('elicitation ' .. id)
    end
  else
    redis.call('HSET', row, 'status', status, 'revision', revision + 1)
  end
end

if #ARGV >= firstTask or (ends and resumes) then
  local function note(member)
    local suffix = ':outbox:' .. string.match(member, '^%S+')
    -- A newer version may have added a member of a kind whose key is not among the given ones. Its outbox is beside them.
    local outbox = string.match(KEYS[firstOutbox], '^(.*):outbox:') .. suffix
    for index = firstOutbox, #KEYS do
      if string.sub(KEYS[index], -#suffix) == suffix then outbox = KEYS[index] end
    end
    redis.call('ZADD', outbox, now, member)
  end
  for index = firstTask, #ARGV do note(ARGV[index]) end
  if ends then
    for member in string.gmatch(resumes or '', '[^\n]+') do note(member) end
  end
end

local epoch, lastNumber = findFeedEnd(feed, microseconds)
local position, number = appendEvents(feed, epoch, lastNumber, microseconds, { eventName, eventJson }, 1, feedEventsMax)
if number == 1 then
  redis.call('PEXPIRE', feed, feedTtl)
elseif creates or guard == 'due' then
  -- A feed already stays for the retention after the deadline of each of its elicitations.
  redis.call('PEXPIRE', feed, feedTtl, 'GT')
end
publishWake(position, now, wakeJson, streamChannel, inboxChannel)
return { 1, now, resumes or '', arms }
