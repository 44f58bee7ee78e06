-- requires: client/clock, feed/append, runs/usage, outbox/tasks, tenants/leaving, tenants/tell-change, runs/ending, runs/detaching
-- keys: run feed conversation messages running usage usageEnds turns tokens listed watched resumptions tries
-- args: streamRequestId term firstSeq channel wakeJson bytesMax runLife endStatus retention conversationLife
-- args: messagesMax historyBytesMax imageBytesMax noteCount eventCount messageCount field detachedOwner questionCount
-- args: writeNumber resumeTask resumeAfter tokensUsed tokensWindow
-- One write of a run's owner: stores notes, appends events to the feed, ends or detaches the run, and wakes readers
-- last.
--
-- firstSeq: sequence number of the first event. bytesMax: maximum bytes of a feed. runLife: how long a run may last,
-- plus its retention; conversationLife: how long a conversation is kept after it; all times in ms
-- messagesMax, historyBytesMax, imageBytesMax: the limits of a conversation: number of messages, bytes without images,
-- bytes of images. The messages of this turn are kept whatever their size
-- endStatus: status with which to end the run, or ''. field: the run's field in the index of running turns
-- detachedOwner: the owner of detached runs, if this run is to be detached, or ''. writeNumber: ordinal of the write
-- within its term, or ''. resumeTask: outbox member that resumes the run, without the term, or ''. resumeAfter: after
-- how many ms a detached run is resumed at the latest, or ''
-- resumptions, tries: the outbox of these members, and the leases of the bucket's tasks
-- tokensUsed: tokens of the steps among the notes. `tokens` counts them for `tokensWindow` ms from the first of them on
-- usage, usageEnds: see runs/usage. listed: zset of the tenant's turns in the bucket, see tenants/scores. watched: see
-- tenants/tell-change. turns: set of the keys of the person's running turns
-- KEYS after the named ones, for a detach: rows of the questions, and then runs, for which the run waits. For an end
-- instead: `subscribers`, the outboxes of the kinds that may be in it, and the list of the tenant's deliveries. This
-- script builds their names itself, because a newer version may have subscribed a kind that this one does not know.
-- ARGV after the named ones: field and value of each note, name and JSON of each event, the messages.
-- Returns 'written', 'stopping', 'fenced', 'behind', 'full', 'wait-ended' or 'gone'.
local firstQuestion, firstNote, run = nextKey, nextArgument, key.run
local firstSeq, noteCount, eventCount = tonumber(arg.firstSeq), tonumber(arg.noteCount), tonumber(arg.eventCount)
local firstRun = firstQuestion + tonumber(arg.questionCount)
local firstEvent = firstNote + 2 * noteCount
local firstMessage = firstEvent + 2 * eventCount
local ends, detaches = arg.endStatus ~= '', arg.detachedOwner ~= ''

-- Reads fields of the run by name; an absent one is false.
local function readFields(...)
  local fields = {}
  for at, value in ipairs(redis.call('HMGET', run, ...)) do fields[select(at, ...)] = value end
  return fields
end

local stored = readFields('status', 'term', 'writerSeq', 'bytes', 'stop', 'detached', 'writes', 'parent', 'metered',
  'recordBytes', 'conversationId', 'traceparent', 'unlisted', 'position')
if not stored.status then return 'gone' end
local writerSeq = tonumber(stored.writerSeq)
if stored.term ~= arg.term then return 'fenced' end
if stored.status ~= 'running' then
  -- A repeat of the same end, after its reply was lost, succeeds.
  return stored.status == arg.endStatus and writerSeq >= firstSeq + eventCount - 1 and 'written' or 'fenced'
end
if arg.writeNumber ~= '' and tonumber(stored.writes or 0) > tonumber(arg.writeNumber) then return 'written' end

-- Redis has lost events that the writer appended.
if firstSeq > writerSeq + 1 then return 'behind' end

if detaches and (hasWaitEnded(firstQuestion, firstRun, arg.detachedOwner) or stored.stop) then return 'wait-ended' end

local events = {}
for index = firstEvent, firstMessage - 1 do events[#events + 1] = ARGV[index] end
-- Events that an earlier copy of this write appended are skipped.
local firstNew = math.max(0, writerSeq - firstSeq + 1) + 1
local bytes = stored.bytes + countBytes(events, firstNew)
if bytes > tonumber(arg.bytesMax) and not ends and not detaches then return 'full' end

local now, microseconds = readClock()
local fields, recordBytes = {}, stored.recordBytes
for index = firstNote, firstEvent - 1 do fields[#fields + 1] = ARGV[index] end
if stored.metered and noteCount > 0 then
  recordBytes = tonumber(recordBytes)
  for index = firstNote, firstEvent - 1, 2 do
    recordBytes = recordBytes + #ARGV[index + 1] - redis.call('HSTRLEN', run, ARGV[index])
  end
  fields[#fields + 1], fields[#fields + 2] = 'recordBytes', recordBytes
  -- A repeat of the same write counts its tokens only once.
  if tonumber(arg.tokensUsed) > 0 and stored.writes ~= arg.writeNumber
    and redis.call('INCRBY', key.tokens, arg.tokensUsed) == tonumber(arg.tokensUsed) then
    redis.call('PEXPIRE', key.tokens, arg.tokensWindow)
  end
end
if arg.writeNumber ~= '' and noteCount + eventCount > 0 then
  fields[#fields + 1], fields[#fields + 2] = 'writes', arg.writeNumber
end
-- Records when each step and call was first and last written, and the term of the writer.
local stamp = string.format('%.0f/%s', now, arg.term)
for index = firstNote, firstEvent - 1, 2 do
  if string.sub(ARGV[index], 1, 6) ~= 'pause:' then
    local name = 'at:' .. ARGV[index]
    local before = redis.call('HGET', run, name)
    fields[#fields + 1], fields[#fields + 2] = name, (before and string.match(before, '^%S+') or stamp) .. ' ' .. stamp
  end
end
local appended
if firstNew <= eventCount then
  appended = appendEvents(key.feed, stored.position and splitPosition(stored.position), microseconds, events, firstNew)
  for _, each in ipairs({ 'writerSeq', firstSeq + eventCount - 1, 'position', appended, 'bytes', bytes }) do fields[#fields + 1] = each end
end
-- Lua cannot unpack thousands of values at once.
for from = 1, #fields, 1000 do
  redis.call('HSET', run, unpack(fields, from, math.min(from + 999, #fields)))
end

if ends then
  endRun(key, arg, stored, now, firstMessage, firstMessage + arg.messageCount - 1)
else
  redis.call('PEXPIRE', run, arg.runLife)
  redis.call('PEXPIRE', key.feed, arg.runLife)
end
if detaches then detachRun(key, arg, now, firstQuestion, firstRun) end
if stored.metered and (ends or detaches) then
  redis.call('SREM', key.turns, run)
  setStored(key.usage, key.usageEnds, 'run ' .. arg.streamRequestId, recordBytes + bytes, now,
    ends and arg.retention or arg.runLife)
end
if appended then publishWake(appended, now, arg.wakeJson, arg.channel) end
if (ends or detaches) and isWatched(key.watched) then
  tellChange(key.watched, 'turn', ends and 'ended' or 'changed', arg.field, now)
end
return stored.stop and not ends and 'stopping' or 'written'
