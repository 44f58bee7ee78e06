-- requires: client/clock, feed/append, runs/usage, tenants/tell-change
-- keys: run feed conversation running messages usage usageEnds turns tokens listed watched conversations fence
-- args: streamRequestId owner agent conversationId input eventName eventJson channel wakeJson runLife conversationLife gone
-- args: parent delegateRequest support field delivery asked nonce wholeInput traceparent title metered turnsMax tokensMax
-- args: conversationsMax storedBytesMax detachedOwner unlisted
-- Begins a turn, unless it already exists or another one is running in its conversation.
--
-- runLife: how long a run may last, plus its retention, in ms. conversationLife: how long a conversation is kept after
-- its latest turn
-- gone: a stream request whose record is known to be gone, or ''. parent, delegateRequest: JSON or ''
-- field: the turn's field in the index of running turns. asked: digest of the request, or ''. nonce: identifies this
-- call, or ''
-- traceparent: the parent of the turn's spans, or ''. title: the title for a conversation without one, or ''
-- wholeInput: the input if the conversation is unknown, or '' if that is the same
-- metered: '1' if the quotas of its person apply to the turn, or ''. turnsMax, tokensMax, conversationsMax,
-- storedBytesMax: these quotas. A delegate's run is counted but never refused. detachedOwner: the owner of detached
-- runs
-- unlisted: '1' if no list contains the conversation and only its bytes count, or ''
-- listed: zset of the tenant's turns in the bucket, see tenants/scores. watched: see tenants/tell-change. fence: exists
-- after an erasure of the person. usage, usageEnds: see runs/usage. turns: set of the keys of the person's running
-- turns. tokens: the token counter of a day
--
-- Returns {1, term, writer's sequence number} when begun, also for a repeat of this call;
--         {0, stream request} if another turn is running, and no quota refuses this one;
--         {2, conversation} if an earlier call asked for the same, or if this call did and the turn was taken over or ended;
--         {3} if an earlier call asked for something else;
--         {4, quota, ms until part of it is released} if a quota is used up;
--         {5, ms} if the person was erased and the fence lasts for that long.
local run = key.run

local knownOwner, term, writerSeq, status, begunBy, askedBefore, knownConversation = unpack(redis.call('HMGET', run,
  'owner', 'term', 'writerSeq', 'status', 'begunBy', 'asked', 'conversationId'))
if status then
  local isOwn = knownOwner == arg.owner and status == 'running' and (begunBy or '') == arg.nonce
  if isOwn then return { 1, term, writerSeq } end
  if (askedBefore or '') ~= arg.asked then return { 3 } end
  return { 2, knownConversation }
end
local fencedFor = redis.call('PTTL', key.fence)
if fencedFor > 0 then return { 5, fencedFor } end
local now, microseconds = readClock()
local events = { arg.eventName, arg.eventJson }
if arg.wholeInput ~= '' and redis.call('EXISTS', key.messages) == 0 then arg.input = arg.wholeInput end
local isListed = arg.parent == '' and arg.unlisted == ''
local conversationEntry = nameConversation(arg.conversationId, arg.unlisted ~= '')

-- Turns that no longer exist, or were detached after they were counted, are not running. A running turn of this conversation is
-- not counted, because it ends before the new one begins.
local function countTurns()
  local ownCount = 0
  for _, turn in ipairs(redis.call('SMEMBERS', key.turns)) do
    local turnStatus, turnOwner, turnConversation = unpack(redis.call('HMGET', turn, 'status', 'owner', 'conversationId'))
    if turnStatus ~= 'running' or turnOwner == arg.detachedOwner then redis.call('SREM', key.turns, turn)
    elseif turnConversation == arg.conversationId then ownCount = ownCount + 1 end
  end
  return redis.call('SCARD', key.turns) - ownCount
end

local function untilFirstEnd()
  local _, first = unpack(redis.call('ZRANGE', key.usageEnds, 0, 0, 'WITHSCORES'))
  return first and first - now or 0
end

local function findReachedQuota()
  if redis.call('SCARD', key.turns) >= tonumber(arg.turnsMax) and countTurns() >= tonumber(arg.turnsMax) then return 'turns', 0 end
  if tonumber(redis.call('GET', key.tokens) or 0) >= tonumber(arg.tokensMax) then return 'tokens', redis.call('PTTL', key.tokens) end
  removeExpired(key.usage, key.usageEnds, now)
  local stored, count = unpack(redis.call('HMGET', key.usage, 'total', 'conversations'))
  if isListed and tonumber(count or 0) >= tonumber(arg.conversationsMax)
    and not redis.call('ZSCORE', key.usageEnds, conversationEntry) then
    return 'conversations', untilFirstEnd()
  end
  if tonumber(stored or 0) + #arg.input > tonumber(arg.storedBytesMax) then return 'storage', untilFirstEnd() end
end

if arg.metered ~= '' and arg.parent == '' then
  local quota, retryIn = findReachedQuota()
  if quota then return { 4, quota, retryIn } end
end
local other = redis.call('HGET', key.conversation, 'running')
if other and other ~= arg.gone then return { 0, other } end

redis.call('HSET', run, 'status', 'running', 'owner', arg.owner, 'term', 1, 'writerSeq', 1, 'bytes', countBytes(events, 1),
  'agent', arg.agent, 'conversationId', arg.conversationId, 'startedAt', now, 'input', arg.input, 'support', arg.support,
  'delivery', arg.delivery, 'owner:1', string.format('%.0f %s', now, arg.owner))
if arg.traceparent ~= '' then redis.call('HSET', run, 'traceparent', arg.traceparent) end
if arg.parent ~= '' then redis.call('HSET', run, 'parent', arg.parent) end
if arg.unlisted ~= '' then redis.call('HSET', run, 'unlisted', arg.unlisted) end
if arg.asked ~= '' then redis.call('HSET', run, 'asked', arg.asked, 'begunBy', arg.nonce) end
if arg.delegateRequest ~= '' then redis.call('HSET', run, 'delegateRequest', arg.delegateRequest) end
if arg.metered ~= '' then
  redis.call('HSET', run, 'metered', arg.metered, 'recordBytes', #arg.input)
  setStored(key.usage, key.usageEnds, 'run ' .. arg.streamRequestId, #arg.input + #arg.eventJson, now, arg.runLife)
  if arg.parent == '' then
    redis.call('SADD', key.turns, run)
    keepAtLeast(key.turns, arg.runLife)
    local known = redis.call('HGET', key.conversation, 'messageBytes') or 0
    setStored(key.usage, key.usageEnds, conversationEntry, known, now, arg.conversationLife)
  end
end
redis.call('PEXPIRE', run, arg.runLife)
redis.call('HSET', key.running, arg.field, arg.owner)
redis.call('ZADD', key.listed, now, arg.field)
keepAtLeast(key.listed, arg.runLife)
redis.call('HSET', key.conversation, 'running', arg.streamRequestId, 'agent', arg.agent, 'updatedAt', now)
redis.call('PEXPIRE', key.conversation, arg.conversationLife)
redis.call('PEXPIRE', key.messages, arg.conversationLife, 'GT')
if isListed then
  if arg.title ~= '' then redis.call('HSETNX', key.conversation, 'title', arg.title) end
  -- A conversation is kept for its life after its latest turn ends, which is within the life of a run.
  local listedFor = arg.runLife + arg.conversationLife
  redis.call('ZADD', key.conversations, now, arg.conversationId)
  redis.call('ZREMRANGEBYSCORE', key.conversations, '-inf', now - listedFor)
  redis.call('PEXPIRE', key.conversations, listedFor)
end

-- The feed gets a new epoch in any case: an existing feed of this name would belong to a turn whose record was lost.
local position = appendAfter(redis.call, key.feed, string.format('%.0f', microseconds), 0, microseconds, events, 1)
redis.call('PEXPIRE', key.feed, arg.runLife)
redis.call('HSET', run, 'position', position)
publishWake(position, now, arg.wakeJson, arg.channel)
if isWatched(key.watched) then tellChange(key.watched, 'turn', 'began', arg.field, now) end
return { 1, 1, 1 }
