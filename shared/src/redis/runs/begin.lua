-- requires: client/clock, feed/append, runs/usage
-- Begins a turn, unless it is known already or another one runs in its conversation.
--
-- runLife: how long a run may last with its retention, in ms; conversationLife: how long a conversation stays while its run lasts
-- gone: a stream request whose record is known to be gone, or ''. parent, delegateRequest: JSON or ''
-- field: the turn's field in the index of running turns. asked: digest of the request, nonce: of this call; both may be ''
-- traceparent: the parent of the turn's spans, or ''. title: the title of a conversation that has none, or ''
-- wholeInput: the input where nothing is known of the conversation; '' where it is the same
-- metered: '1' where the turn counts against the quotas of its person, else ''. turnsMax, tokensMax, conversationsMax,
-- storedMax: these quotas; a delegate's run is counted and never refused. detachedOwner: the owner of detached runs
-- unlisted: '1' where the conversation is in no list and counts for its bytes only, else ''
-- fence: exists after an erasure of the person. usage, usageEnds: see runs/usage. turns: set of the keys of the person's running turns. tokens: counter of a day
-- Returns {1, term, writer's sequence number} when begun, also by an earlier sending of this call;
--         {0, stream request} when another turn runs, and no quota refuses this one;
--         {2, conversation} when an earlier call asked for the same, or this call did and the turn was taken over or ended;
--         {3} when an earlier call asked for something else;
--         {4, quota, ms until something of it becomes free} when a quota is used up;
--         {5, ms} when the person was erased and the fence stays for so long.
local run, feed, conversation, running, messages, conversations, fence, usage, usageEnds, turns, tokens = unpack(KEYS)
local streamRequestId, owner, agent, conversationId, input, eventName, eventJson, channel, wakeJson, runLife,
  conversationLife, gone, parent, delegateRequest, support, field, delivery, asked, nonce, wholeInput, traceparent,
  title, metered, turnsMax, tokensMax, conversationsMax, storedMax, detachedOwner, unlisted = unpack(ARGV)

local knownOwner, term, writerSeq, status, begunBy, askedBefore, knownConversation = unpack(redis.call('HMGET', run,
  'owner', 'term', 'writerSeq', 'status', 'begunBy', 'asked', 'conversationId'))
if status then
  local isOwn = knownOwner == owner and status == 'running' and (begunBy or '') == nonce
  if isOwn then return { 1, term, writerSeq } end
  if (askedBefore or '') ~= asked then return { 3 } end
  return { 2, knownConversation }
end
local fencedFor = redis.call('PTTL', fence)
if fencedFor > 0 then return { 5, fencedFor } end
local now, microseconds = readClock()
local events = { eventName, eventJson }
if wholeInput ~= '' and redis.call('EXISTS', messages) == 0 then input = wholeInput end
local isListed = parent == '' and unlisted == ''
local conversationEntry = nameConversation(conversationId, unlisted ~= '')

-- Turns that are gone, or detached since they were counted, do not run. One of this conversation ends before the new one begins.
local function countTurns()
  local ownCount = 0
  for _, key in ipairs(redis.call('SMEMBERS', turns)) do
    local turnStatus, turnOwner, turnConversation = unpack(redis.call('HMGET', key, 'status', 'owner', 'conversationId'))
    if turnStatus ~= 'running' or turnOwner == detachedOwner then redis.call('SREM', turns, key)
    elseif turnConversation == conversationId then ownCount = ownCount + 1 end
  end
  return redis.call('SCARD', turns) - ownCount
end

local function untilFirstEnd()
  local _, first = unpack(redis.call('ZRANGE', usageEnds, 0, 0, 'WITHSCORES'))
  return first and first - now or 0
end

local function findReachedQuota()
  if redis.call('SCARD', turns) >= tonumber(turnsMax) and countTurns() >= tonumber(turnsMax) then return 'turns', 0 end
  if tonumber(redis.call('GET', tokens) or 0) >= tonumber(tokensMax) then return 'tokens', redis.call('PTTL', tokens) end
  removeExpired(usage, usageEnds, now)
  local stored, count = unpack(redis.call('HMGET', usage, 'total', 'conversations'))
  if isListed and tonumber(count or 0) >= tonumber(conversationsMax)
    and not redis.call('ZSCORE', usageEnds, conversationEntry) then
    return 'conversations', untilFirstEnd()
  end
  if tonumber(stored or 0) + #input > tonumber(storedMax) then return 'storage', untilFirstEnd() end
end

if metered ~= '' and parent == '' then
  local quota, retryIn = findReachedQuota()
  if quota then return { 4, quota, retryIn } end
end
local other = redis.call('HGET', conversation, 'running')
if other and other ~= gone then return { 0, other } end

redis.call('HSET', run, 'status', 'running', 'owner', owner, 'term', 1, 'writerSeq', 1, 'bytes', countBytes(events, 1),
  'agent', agent, 'conversationId', conversationId, 'startedAt', now, 'input', input, 'support', support,
  'delivery', delivery, 'owner:1', string.format('%.0f %s', now, owner))
if traceparent ~= '' then redis.call('HSET', run, 'traceparent', traceparent) end
if parent ~= '' then redis.call('HSET', run, 'parent', parent) end
if unlisted ~= '' then redis.call('HSET', run, 'unlisted', unlisted) end
if asked ~= '' then redis.call('HSET', run, 'asked', asked, 'begunBy', nonce) end
if delegateRequest ~= '' then redis.call('HSET', run, 'delegateRequest', delegateRequest) end
if metered ~= '' then
  redis.call('HSET', run, 'metered', metered, 'recordBytes', #input)
  setStored(usage, usageEnds, 'run ' .. streamRequestId, #input + #eventJson, now, runLife)
  if parent == '' then
    redis.call('SADD', turns, run)
    keepAtLeast(turns, runLife)
    local known = redis.call('HGET', conversation, 'messageBytes') or 0
    setStored(usage, usageEnds, conversationEntry, known, now, conversationLife)
  end
end
redis.call('PEXPIRE', run, runLife)
redis.call('HSET', running, field, owner)
redis.call('HSET', conversation, 'running', streamRequestId, 'agent', agent, 'updatedAt', now)
redis.call('PEXPIRE', conversation, conversationLife)
redis.call('PEXPIRE', messages, conversationLife, 'GT')
if isListed then
  if title ~= '' then redis.call('HSETNX', conversation, 'title', title) end
  -- A conversation stays for its life after its latest turn, which ends within the life of a run.
  local listedFor = runLife + conversationLife
  redis.call('ZADD', conversations, now, conversationId)
  redis.call('ZREMRANGEBYSCORE', conversations, '-inf', now - listedFor)
  redis.call('PEXPIRE', conversations, listedFor)
end

-- Always a new epoch: a feed of the same name would be one whose turn was lost.
local position = appendAfter(redis.call, feed, string.format('%.0f', microseconds), 0, microseconds, events, 1)
redis.call('PEXPIRE', feed, runLife)
redis.call('HSET', run, 'position', position)
publishWake(position, now, wakeJson, channel)
return { 1, 1, 1 }
