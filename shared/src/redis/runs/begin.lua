-- requires: client/clock, feed/append, runs/usage, tenants/tell-change
-- keys: run feed conversation running messages usage usageEnds turns tokens listed watched conversations fence
-- args: streamRequestId owner agent conversationId input eventName eventJson channel wakeJson runLife conversationLife gone
-- args: parent delegateRequest support field delivery asked nonce wholeInput traceparent title metered turnsMax tokensMax
-- args: conversationsMax storedBytesMax detachedOwner unlisted
-- Begins a turn, unless it is known already or another one runs in its conversation.
--
-- runLife: how long a run may last with its retention, in ms; conversationLife: how long a conversation stays while its run lasts
-- gone: a stream request whose record is known to be gone, or ''. parent, delegateRequest: JSON or ''
-- field: the turn's field in the index of running turns. asked: digest of the request, nonce: of this call; both may be ''
-- traceparent: the parent of the turn's spans, or ''. title: the title of a conversation that has none, or ''
-- wholeInput: the input where nothing is known of the conversation; '' where it is the same
-- metered: '1' where the turn counts against the quotas of its person, else ''. turnsMax, tokensMax, conversationsMax,
-- storedBytesMax: these quotas; a delegate's run is counted and never refused. detachedOwner: the owner of detached runs
-- unlisted: '1' where the conversation is in no list and counts for its bytes only, else ''
-- listed: zset of the tenant's turns in the bucket, see tenants/scores. watched: see tenants/tell-change. fence: exists after an erasure of the person. usage, usageEnds: see runs/usage. turns: set of the keys of the person's running turns. tokens: counter of a day
-- Returns {1, term, writer's sequence number} when begun, also by an earlier sending of this call;
--         {0, stream request} when another turn runs, and no quota refuses this one;
--         {2, conversation} when an earlier call asked for the same, or this call did and the turn was taken over or ended;
--         {3} when an earlier call asked for something else;
--         {4, quota, ms until something of it becomes free} when a quota is used up;
--         {5, ms} when the person was erased and the fence stays for so long.
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

-- Turns that are gone, or detached since they were counted, do not run. One of this conversation ends before the new one begins.
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
  -- A conversation stays for its life after its latest turn, which ends within the life of a run.
  local listedFor = arg.runLife + arg.conversationLife
  redis.call('ZADD', key.conversations, now, arg.conversationId)
  redis.call('ZREMRANGEBYSCORE', key.conversations, '-inf', now - listedFor)
  redis.call('PEXPIRE', key.conversations, listedFor)
end

-- Always a new epoch: a feed of the same name would be one whose turn was lost.
local position = appendAfter(redis.call, key.feed, string.format('%.0f', microseconds), 0, microseconds, events, 1)
redis.call('PEXPIRE', key.feed, arg.runLife)
redis.call('HSET', run, 'position', position)
publishWake(position, now, arg.wakeJson, arg.channel)
if isWatched(key.watched) then tellChange(key.watched, 'turn', 'began', arg.field, now) end
return { 1, 1, 1 }
