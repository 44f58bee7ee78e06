-- requires: client/clock, feed/append, runs/usage, outbox/tasks
-- One write of a run's owner: stores notes, appends events to the feed, ends or detaches the run, wakes readers last.
--
-- firstSeq: sequence number of the first event. bytesMax: bytes that a feed may hold. runLife: how long a run may last
-- with its retention, conversationLife: how long a conversation stays after it; all times in ms
-- messagesMax, historyBytesMax, imageBytesMax: messages that a conversation keeps, and bytes of them without their images and of
-- these; those of this turn are kept whatever their bytes
-- endStatus: status to end the run with, or ''. field: the run's field in the index of running turns
-- detachedOwner: the owner that marks detached runs, to detach this one, or ''. writeNumber: number of the write within its
-- term, or ''. resumeTask: outbox member that resumes the run, without the term, or ''
-- tokensUsed: tokens of the steps among the notes, counted in `tokens` for `tokensWindow` ms from the first of them on
-- usage, usageEnds: see runs/usage. turns: set of the keys of the person's running turns
-- The end of a run notes a task '<kind> <field>' for each delivery kind in the set `subscribers` beside its channel.
-- KEYS beyond the named ones: rows of the questions, then runs, that the run is to wait for when it is detached; at its end
-- instead `subscribers`, the outboxes of the kinds that can be in it, and the leases of the bucket's tasks, by the names that are
-- derived here: a newer version may have subscribed a kind that this one does not know.
-- ARGV beyond the named ones: field and value of each note, name and JSON of each event, the messages.
-- Returns 'written', 'stopping', 'fenced', 'behind', 'full', 'wait-ended' or 'gone'.
local run, feed, conversation, messages, running, usage, usageEnds, turns, tokens = unpack(KEYS, 1, 9)
local firstWait = 10

-- The bytes of the images in a person's message. JSON escapes the quotes within texts, so that none of them looks like a key.
local function imageBytesOf(message)
  local bytes = 0
  if string.sub(message, 1, 14) ~= '{"role":"user"' then return bytes end
  for data in string.gmatch(message, '"data":"([^"]*)') do bytes = bytes + #data end
  return bytes
end

local streamRequestId, term, firstSeq, channel, wakeJson, bytesMax, runLife, endStatus, retention, conversationLife,
  messagesMax, historyBytesMax, imageBytesMax, noteCount, eventCount, messageCount, field, detachedOwner, questionCount, writeNumber,
  resumeTask, tokensUsed, tokensWindow = unpack(ARGV, 1, 23)
local firstNote = 24
historyBytesMax, imageBytesMax = tonumber(historyBytesMax), tonumber(imageBytesMax)
firstSeq, noteCount, eventCount, messageCount, questionCount = tonumber(firstSeq), tonumber(noteCount),
  tonumber(eventCount), tonumber(messageCount), tonumber(questionCount)
local firstEvent = firstNote + 2 * noteCount
local firstMessage = firstEvent + 2 * eventCount
local firstRun = firstWait + questionCount
local ends, detaches = endStatus ~= '', detachedOwner ~= ''

local status, currentTerm, writerSeq, storedBytes, stop, wasDetached, lastWrite, parent, metered, recordBytes,
  conversationId, traceparent, unlisted, position =
  unpack(redis.call('HMGET', run, 'status', 'term', 'writerSeq', 'bytes', 'stop', 'detached', 'writes', 'parent', 'metered',
  'recordBytes', 'conversationId', 'traceparent', 'unlisted', 'position'))
if not status then return 'gone' end
writerSeq = tonumber(writerSeq)
if currentTerm ~= term then return 'fenced' end
if status ~= 'running' then
  -- A repeated end whose first reply was lost.
  return status == endStatus and writerSeq >= firstSeq + eventCount - 1 and 'written' or 'fenced'
end
if writeNumber ~= '' and tonumber(lastWrite or 0) > tonumber(writeNumber) then return 'written' end

-- Redis lost events that the writer has appended.
if firstSeq > writerSeq + 1 then return 'behind' end

if detaches then
  for index = firstWait, firstRun - 1 do
    local question = redis.call('HGET', KEYS[index], 'status')
    if question ~= 'pending' and question ~= 'opened' then return 'wait-ended' end
  end
  for index = firstRun, #KEYS do
    if redis.call('HGET', KEYS[index], 'owner') ~= detachedOwner then return 'wait-ended' end
  end
  if stop then return 'wait-ended' end
end

local events = {}
for index = firstEvent, firstMessage - 1 do events[#events + 1] = ARGV[index] end
-- Events that an earlier sending of this write has appended are left out.
local firstNew = math.max(0, writerSeq - firstSeq + 1) + 1
local bytes = storedBytes + countBytes(events, firstNew)
if bytes > tonumber(bytesMax) and not ends and not detaches then return 'full' end

local now, microseconds = readClock()
local fields = {}
for index = firstNote, firstEvent - 1 do fields[#fields + 1] = ARGV[index] end
if metered and noteCount > 0 then
  recordBytes = tonumber(recordBytes)
  for index = firstNote, firstEvent - 1, 2 do
    recordBytes = recordBytes + #ARGV[index + 1] - redis.call('HSTRLEN', run, ARGV[index])
  end
  fields[#fields + 1], fields[#fields + 2] = 'recordBytes', recordBytes
  -- The same write sent again counts once.
  if tonumber(tokensUsed) > 0 and lastWrite ~= writeNumber
    and redis.call('INCRBY', tokens, tokensUsed) == tonumber(tokensUsed) then
    redis.call('PEXPIRE', tokens, tokensWindow)
  end
end
if writeNumber ~= '' and noteCount + eventCount > 0 then
  fields[#fields + 1], fields[#fields + 2] = 'writes', writeNumber
end
-- The first and the last time that each step and call was written, each with the term of its writer.
local stamp = string.format('%.0f/%s', now, term)
for index = firstNote, firstEvent - 1, 2 do
  if string.sub(ARGV[index], 1, 6) ~= 'pause:' then
    local name = 'at:' .. ARGV[index]
    local before = redis.call('HGET', run, name)
    fields[#fields + 1], fields[#fields + 2] = name, (before and string.match(before, '^%S+') or stamp) .. ' ' .. stamp
  end
end
local appended
if firstNew <= eventCount then
  appended = appendEvents(feed, position and splitPosition(position), microseconds, events, firstNew)
  for _, each in ipairs({ 'writerSeq', firstSeq + eventCount - 1, 'position', appended, 'bytes', bytes }) do fields[#fields + 1] = each end
end
-- Lua cannot unpack thousands of values at once.
for from = 1, #fields, 1000 do
  redis.call('HSET', run, unpack(fields, from, math.min(from + 999, #fields)))
end

if ends then
  -- Nobody returns to the conversation of a delegate or of unlisted turns in a list of chats.
  if parent or unlisted then conversationLife = retention end
  redis.call('HSET', run, 'status', endStatus, 'endedAt', now)
  redis.call('HDEL', running, field)
  redis.call('PEXPIRE', run, retention)
  redis.call('PEXPIRE', feed, retention)
  if redis.call('HGET', conversation, 'running') == streamRequestId then redis.call('HDEL', conversation, 'running') end
  local messageBytes, imageBytes = 0, 0
  if redis.call('EXISTS', messages) == 1 then
    messageBytes = tonumber(redis.call('HGET', conversation, 'messageBytes') or 0)
    imageBytes = tonumber(redis.call('HGET', conversation, 'imageBytes') or 0)
  end
  for index = firstMessage, firstMessage + messageCount - 1 do
    redis.call('RPUSH', messages, ARGV[index])
    messageBytes = messageBytes + #ARGV[index]
    imageBytes = imageBytes + imageBytesOf(ARGV[index])
  end
  local stored = redis.call('LLEN', messages)
  while stored > tonumber(messagesMax) or (stored > messageCount
    and (messageBytes - imageBytes > historyBytesMax or imageBytes > imageBytesMax)) do
    local oldest = redis.call('LPOP', messages)
    messageBytes = messageBytes - #oldest
    imageBytes = imageBytes - imageBytesOf(oldest)
    stored = stored - 1
  end
  redis.call('PEXPIRE', messages, conversationLife)
  messageBytes, imageBytes = math.max(0, messageBytes), math.max(0, imageBytes)
  redis.call('HSET', conversation, 'last', streamRequestId, 'lastDetached', wasDetached or '0',
    'lastTraceparent', traceparent or '', 'updatedAt', now, 'messageBytes', messageBytes, 'imageBytes', imageBytes)
  if metered and not parent then
    setStored(usage, usageEnds, nameConversation(conversationId, unlisted), messageBytes, now, conversationLife)
  end
  for _, kind in ipairs(redis.call('SMEMBERS', (string.gsub(channel, ':stream:', ':subscribers:', 1)))) do
    local bucket, member = string.match(running, '^(.*):running$'), kind .. ' ' .. field
    noteTask(bucket .. ':outbox:' .. kind, bucket .. ':outbox-tries', member, now)
  end
  redis.call('PEXPIRE', conversation, conversationLife)
else
  redis.call('PEXPIRE', run, runLife)
  redis.call('PEXPIRE', feed, runLife)
end
if detaches then
  local newTerm = term + 1
  redis.call('HSET', run, 'owner', detachedOwner, 'term', newTerm, 'detached', '1',
    'owner:' .. newTerm, string.format('%.0f %s', now, detachedOwner))
  redis.call('HDEL', running, field)
  for _, key in ipairs({ conversation, messages }) do redis.call('PEXPIRE', key, runLife, 'GT') end
  for index = firstWait, firstRun - 1 do
    local lines = resumeTask .. ' ' .. newTerm .. '\n'
    for line in string.gmatch(redis.call('HGET', KEYS[index], 'resumes') or '', '[^\n]+') do
      -- A line of an earlier wait of this run is dropped.
      if string.sub(line, 1, #resumeTask + 1) ~= resumeTask .. ' ' then lines = lines .. line .. '\n' end
    end
    redis.call('HSET', KEYS[index], 'resumes', lines)
  end
end
if metered and (ends or detaches) then
  redis.call('SREM', turns, run)
  setStored(usage, usageEnds, 'run ' .. streamRequestId, recordBytes + bytes, now,
    ends and retention or runLife)
end
if appended then publishWake(appended, now, wakeJson, channel) end
return stop and not ends and 'stopping' or 'written'
