-- One write of a run's owner: keeps notes, appends events to the feed, ends the run when told to, wakes readers last.
--
-- KEYS 1 run (hash)  2 feed (stream)  3 conversation (hash)  4 its messages (list)  5 running turns (hash)
-- ARGV 1 stream request  2 term  3 number of the first event  4 stream channel  5 wake JSON
--      6 bytes a feed may hold  7 how long a run may last with what follows, in ms
--      8 status to end with, or ''  9 retention in ms  10 how long a conversation stays, in ms
--     11 messages a conversation keeps
--     12 how many notes   13 how many events   14 how many messages   15 field among the running turns
--     then per note its field and value, per event its name and JSON, and the messages
-- Returns 'written', 'stopping', 'fenced', 'full' or 'gone'.

local stands = redis.call('HMGET', KEYS[1], 'status', 'term', 'writerSeq', 'bytes', 'stop')
if not stands[1] then return 'gone' end
local ends = ARGV[8] ~= ''
local notes, events, messages = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local first, seq = tonumber(ARGV[3]), tonumber(stands[3])
if stands[2] ~= ARGV[2] then return 'fenced' end
if stands[1] ~= 'running' then
  -- The same end again, after its reply was lost.
  return stands[1] == ARGV[8] and seq >= first + events - 1 and 'written' or 'fenced'
end

local function eventAt(index) return 16 + 2 * notes + 2 * index end
local skip = math.max(0, seq - first + 1)
local bytes = tonumber(stands[4])
for index = skip, events - 1 do bytes = bytes + #ARGV[eventAt(index) + 1] end
if bytes > tonumber(ARGV[6]) and not ends then return 'full' end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for index = 0, notes - 1 do redis.call('HSET', KEYS[1], ARGV[16 + 2 * index], ARGV[17 + 2 * index]) end

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
  redis.call('HSET', KEYS[1], 'writerSeq', first + events - 1, 'bytes', bytes)
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
  redis.call('HSET', KEYS[3], 'updatedAt', now)
  redis.call('PEXPIRE', KEYS[3], ARGV[10])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
  redis.call('PEXPIRE', KEYS[2], ARGV[7])
end
if position then redis.call('PUBLISH', ARGV[4], position .. ' ' .. now .. ' ' .. ARGV[5]) end
return stands[5] and not ends and 'stopping' or 'written'
