-- Makes one row and the sets that list it agree, by the row as it stands now.
-- KEYS 1 row (hash)   2... sets that may list it (zsets)
-- ARGV 1 elicitation id   2 retention in ms
--      3... for each set what it lists: 'createdAt' or 'expiresAt', open rows with that field as their score;
--      'any', whatever row there is
-- Returns how many things were wrong.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local id, retention = ARGV[1], tonumber(ARGV[2])
local fields = redis.pcall('HMGET', KEYS[1], 'createdAt', 'expiresAt', 'settledAt', 'keptMs')
if fields.err then fields = {} end
local row = { createdAt = fields[1], expiresAt = fields[2] }
local settledAt = tonumber(fields[3] or nil)
local exists = row.createdAt and true or false
local open = exists and not settledAt
retention = tonumber(fields[4] or nil) or retention
local fixed = 0

for index = 2, #KEYS do
  local set, lists = KEYS[index], ARGV[index + 1]
  local score = redis.call('ZSCORE', set, id)
  if open and lists ~= 'any' then
    if not score or tonumber(score) ~= tonumber(row[lists]) then
      redis.call('ZADD', set, row[lists], id)
      fixed = fixed + 1
    end
  elseif score and not (exists and lists == 'any') then
    redis.call('ZREM', set, id)
    fixed = fixed + 1
  end
end

if not exists then return fixed end
local life = redis.call('PTTL', KEYS[1])
if open and life >= 0 then
  redis.call('PERSIST', KEYS[1])
  fixed = fixed + 1
elseif settledAt and (life < 0 or life > retention) then
  local left = math.min(retention, settledAt + retention - now)
  if left > 0 then redis.call('PEXPIRE', KEYS[1], left) else redis.call('DEL', KEYS[1]) end
  fixed = fixed + 1
end
return fixed
