-- One atomic step of one elicitation: compare, write the row, append the feed, keep the indexes, note what its end
-- leaves to do, publish the wakes.
-- The rules live in TypeScript (domain/transition.ts); this script only compares, stamps the time and appends.
--
-- KEYS 1 row (hash)  2 feed (stream)  3 inbox (zset)  4 history (zset)  5 deadlines (zset)
--      6 outbox of wakes (zset)  7 outbox of webhooks (zset)
-- ARGV 1 revision the caller decided on; 0 creates
--      2 guard: 'open' (only before the deadline) or 'due' (only at or after it); ignored when creating
--      3 elicitation id     4 new status     5 '1' when the status is terminal
--      6 event name         7 event JSON     8 wake JSON
--      9 stream channel    10 inbox channel
--     11 retention in ms   12 feed events to keep, about
--     creating:  13 timeout in ms   14 definition JSON   15 open elicitations per owner, at most
--     settling:  13 settlement JSON 14 ended elicitations per owner, at most
--                15 how long the ended row stays, in ms   16 the webhook to send, or ''
-- Returns {1, now, position, detached runs that waited for it, a line each} when committed; {0, now, row fields...} when
--      the row is not as the caller thought or the guard does not hold; {-1, now} when the owner has too many open.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local expected = tonumber(ARGV[1])
local id = ARGV[3]

local stands = redis.call('HMGET', KEYS[1], 'revision', 'expiresAt', 'createdAt', 'wakes')
local revision = tonumber(stands[1]) or 0
local function asItStands()
  local reply = redis.call('HGETALL', KEYS[1])
  table.insert(reply, 1, 0)
  table.insert(reply, 2, now)
  return reply
end

if revision ~= expected then return asItStands() end

local feedTtl = tonumber(ARGV[11])
if expected == 0 then
  if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[15]) then return { -1, now } end
  local expiresAt = now + tonumber(ARGV[13])
  feedTtl = feedTtl + tonumber(ARGV[13])
  redis.call('HSET', KEYS[1], 'status', ARGV[4], 'revision', 1, 'createdAt', now, 'expiresAt', expiresAt,
    'definition', ARGV[14])
  redis.call('ZADD', KEYS[3], now, id)
  redis.call('ZADD', KEYS[5], expiresAt, id)
else
  local due = now >= tonumber(stands[2])
  if due ~= (ARGV[2] == 'due') then return asItStands() end
  if ARGV[5] == '1' then
    redis.call('HSET', KEYS[1], 'status', ARGV[4], 'revision', expected + 1, 'settlement', ARGV[13], 'settledAt', now)
    redis.call('ZREM', KEYS[3], id)
    redis.call('ZREM', KEYS[5], id)
    redis.call('ZADD', KEYS[4], stands[3], id)
    redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -1 - tonumber(ARGV[14]))
    redis.call('PEXPIRE', KEYS[4], ARGV[11])
    redis.call('PEXPIRE', KEYS[1], ARGV[15])
    if ARGV[15] ~= ARGV[11] then redis.call('HSET', KEYS[1], 'keptMs', ARGV[15]) end
    if ARGV[16] ~= '' then redis.call('ZADD', KEYS[7], now, ARGV[16]) end
    for run in string.gmatch(stands[4] or '', '[^\n]+') do redis.call('ZADD', KEYS[6], now, 'wake ' .. run) end
  else
    redis.call('HSET', KEYS[1], 'status', ARGV[4], 'revision', expected + 1)
  end
end

-- A feed's epoch is the microsecond it began, so that a lost and recreated feed has another one.
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local epoch, seq
if last then
  epoch, seq = string.match(last[1], '^(%d+)-(%d+)$')
  seq = tonumber(seq) + 1
else
  epoch, seq = string.format('%.0f', clock[1] * 1000000 + clock[2]), 1
end
local position = epoch .. '-' .. string.format('%.0f', seq)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[12], position, 'event', ARGV[6], 'at', now, 'data', ARGV[7])
if seq == 1 then
  redis.call('PEXPIRE', KEYS[2], feedTtl)
elseif expected == 0 or ARGV[2] == 'due' then
  -- Before the deadline the feed already stays longer than the retention from now.
  redis.call('PEXPIRE', KEYS[2], feedTtl, 'GT')
end

local wake = position .. ' ' .. now .. ' ' .. ARGV[8]
redis.call('PUBLISH', ARGV[9], wake)
redis.call('PUBLISH', ARGV[10], wake)
return { 1, now, position, stands[4] or '' }
