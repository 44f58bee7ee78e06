-- One write of a run's owner: keeps notes, appends events to the feed, ends the run or lets go of it when told to,
-- wakes readers last.
--
-- KEYS 1 run (hash)  2 feed (stream)  3 conversation (hash)  4 its messages (list)  5 running turns (hash)
--      then the rows of questions and the runs that it is detached for
-- ARGV 1 stream request  2 term  3 number of the first event  4 stream channel  5 wake JSON
--      6 bytes a feed may hold  7 how long a run may last with what follows, in ms
--      8 status to end with, or ''  9 retention in ms  10 how long a conversation stays, in ms
--     11 messages a conversation keeps
--     12 how many notes   13 how many events   14 how many messages   15 field among the running turns
--     16 owner of detached runs, to detach it, or ''   17 how many of the keys are questions
--     18 number of the write within its term, or ''
--     then per note its field and value, per event its name and JSON, and the messages
-- Returns 'written', 'stopping', 'fenced', 'full', 'wait-ended' or 'gone'.

local stands = redis.call('HMGET', KEYS[1], 'status', 'term', 'writerSeq', 'bytes', 'stop', 'detached', 'writes', 'parent')
if not stands[1] then return 'gone' end
local ends = ARGV[8] ~= ''
local notes, events, messages = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local first, seq = tonumber(ARGV[3]), tonumber(stands[3])
if stands[2] ~= ARGV[2] then return 'fenced' end
if stands[1] ~= 'running' then
  -- The same end again, after its reply was lost.
  return stands[1] == ARGV[8] and seq >= first + events - 1 and 'written' or 'fenced'
end
if ARGV[18] ~= '' and tonumber(stands[7] or 0) > tonumber(ARGV[18]) then return 'written' end

local detaches, questions = ARGV[16] ~= '', tonumber(ARGV[17])
if detaches then
  for index = 6, #KEYS do
    if index < 6 + questions then
      local status = redis.call('HGET', KEYS[index], 'status')
      if status ~= 'pending' and status ~= 'opened' then return 'wait-ended' end
    elseif redis.call('HGET', KEYS[index], 'owner') ~= ARGV[16] then
      return 'wait-ended'
    end
  end
  if stands[5] then return 'wait-ended' end
end

local function eventAt(index) return 19 + 2 * notes + 2 * index end
local skip = math.max(0, seq - first + 1)
local bytes = tonumber(stands[4])
for index = skip, events - 1 do bytes = bytes + #ARGV[eventAt(index) + 1] end
if bytes > tonumber(ARGV[6]) and not ends and not detaches then return 'full' end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local fields = {}
for index = 19, 18 + 2 * notes do fields[#fields + 1] = ARGV[index] end
if ARGV[18] ~= '' and notes + events > 0 then fields[#fields + 1], fields[#fields + 2] = 'writes', ARGV[18] end

local position
if skip < events then
  local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
  local epoch, entry
  if last then
    epoch, entry = string.match(last[1], '^(%d+)-(%d+)$')
  else
    epoch, entry = string.format('%.0f', clock[1] * 1000000 + clock[2]), 0
  end
  for index = skip, events - 1 do
    entry = entry + 1
    position = epoch .. '-' .. string.format('%.0f', entry)
    redis.call('XADD', KEYS[2], position, 'event', ARGV[eventAt(index)], 'at', now, 'data', ARGV[eventAt(index) + 1])
  end
  for _, each in ipairs({ 'writerSeq', first + events - 1, 'bytes', bytes }) do fields[#fields + 1] = each end
end
-- Lua cannot unpack thousands at once.
for from = 1, #fields, 1000 do
  redis.call('HSET', KEYS[1], unpack(fields, from, math.min(from + 999, #fields)))
end

if ends then
  redis.call('HSET', KEYS[1], 'status', ARGV[8], 'endedAt', now)
  redis.call('HDEL', KEYS[5], ARGV[15])
  redis.call('PEXPIRE', KEYS[1], ARGV[9])
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  if redis.call('HGET', KEYS[3], 'running') == ARGV[1] then redis.call('HDEL', KEYS[3], 'running') end
  local at = eventAt(events)
  for index = at, at + messages - 1 do redis.call('RPUSH', KEYS[4], ARGV[index]) end
  redis.call('LTRIM', KEYS[4], -tonumber(ARGV[11]), -1)
  redis.call('PEXPIRE', KEYS[4], ARGV[10])
  redis.call('HSET', KEYS[3], 'last', ARGV[1], 'lastDetached', stands[6] or '0', 'updatedAt', now)
  -- A delegate's conversation is nobody's to go on with.
  redis.call('PEXPIRE', KEYS[3], stands[8] and ARGV[9] or ARGV[10])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
  redis.call('PEXPIRE', KEYS[2], ARGV[7])
end
if detaches then
  local term = stands[2] + 1
  redis.call('HSET', KEYS[1], 'owner', ARGV[16], 'term', term, 'detached', '1')
  redis.call('HDEL', KEYS[5], ARGV[15])
  for _, key in ipairs({ KEYS[3], KEYS[4] }) do redis.call('PEXPIRE', key, ARGV[7], 'GT') end
  for index = 6, 5 + questions do
    local lines = ARGV[15] .. ' ' .. term .. '\n'
    for line in string.gmatch(redis.call('HGET', KEYS[index], 'wakes') or '', '[^\n]+') do
      -- Its own earlier wait is over.
      if string.sub(line, 1, #ARGV[15] + 1) ~= ARGV[15] .. ' ' then lines = lines .. line .. '\n' end
    end
    redis.call('HSET', KEYS[index], 'wakes', lines)
  end
end
if position then redis.call('PUBLISH', ARGV[4], position .. ' ' .. now .. ' ' .. ARGV[5]) end
return stands[5] and not ends and 'stopping' or 'written'
