-- Begins a turn, unless it is known already or another one runs in its conversation.
--
-- KEYS 1 run (hash)  2 feed (stream)  3 conversation (hash)  4 running turns (hash)
--      5 its messages (list)
-- ARGV 1 stream request  2 owner  3 agent  4 conversation  5 input JSON
--      6 event name      7 event JSON  8 stream channel  9 wake JSON
--     10 how long a run may last with what follows, in ms   11 how long a conversation stays with it, in ms
--     12 a stream request whose run is known to be gone, or ''   13 JSON of the call it is for, or ''
--     14 JSON of what a delegate needs of its turn, or ''
--     15 JSON of what its client can show   16 field among the running turns   17 what becomes of it while it waits
--     18 digest of what was asked, or ''   19 nonce of this call, or ''
--     20 input JSON where nothing is known of the conversation
-- Returns {1, term, writer's sequence} when begun, also by an earlier sending of this call;
--         {0, stream request} when another turn runs;
--         {2, conversation} when an earlier call asked for the same, or this one did and was overtaken since;
--         {3} when an earlier call asked for something else.

local stands = redis.call('HMGET', KEYS[1], 'owner', 'term', 'writerSeq', 'status', 'begunBy', 'asked', 'conversationId')
if stands[4] then
  local isOwn = stands[1] == ARGV[2] and stands[4] == 'running' and (stands[5] or '') == ARGV[19]
  if isOwn then return { 1, stands[2], stands[3] } end
  if (stands[6] or '') ~= ARGV[18] then return { 3 } end
  return { 2, stands[7] }
end
local running = redis.call('HGET', KEYS[3], 'running')
if running and running ~= ARGV[12] then return { 0, running } end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local input = redis.call('EXISTS', KEYS[5]) == 1 and ARGV[5] or ARGV[20]
redis.call('HSET', KEYS[1], 'status', 'running', 'owner', ARGV[2], 'term', 1, 'writerSeq', 1, 'bytes', #ARGV[7],
  'agent', ARGV[3], 'conversationId', ARGV[4], 'startedAt', now, 'input', input, 'support', ARGV[15],
  'delivery', ARGV[17])
if ARGV[13] ~= '' then redis.call('HSET', KEYS[1], 'parent', ARGV[13]) end
if ARGV[18] ~= '' then redis.call('HSET', KEYS[1], 'asked', ARGV[18], 'begunBy', ARGV[19]) end
if ARGV[14] ~= '' then redis.call('HSET', KEYS[1], 'delegateRequest', ARGV[14]) end
redis.call('PEXPIRE', KEYS[1], ARGV[10])
redis.call('HSET', KEYS[4], ARGV[16], ARGV[2])
redis.call('HSET', KEYS[3], 'running', ARGV[1], 'agent', ARGV[3], 'updatedAt', now)
redis.call('PEXPIRE', KEYS[3], ARGV[11])
redis.call('PEXPIRE', KEYS[5], ARGV[11], 'GT')

local position = string.format('%.0f', clock[1] * 1000000 + clock[2]) .. '-1'
redis.call('XADD', KEYS[2], position, 'event', ARGV[6], 'at', now, 'data', ARGV[7])
redis.call('PEXPIRE', KEYS[2], ARGV[10])
redis.call('PUBLISH', ARGV[8], position .. ' ' .. now .. ' ' .. ARGV[9])
return { 1, 1, 1 }
