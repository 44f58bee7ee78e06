-- requires: client/clock
-- Makes the sets that may list a row agree with the current row, and gives an ended row its expiry.
-- KEYS after the named one: sets that may list the row (zsets). ARGV after the named ones: the rule of each set:
-- 'createdAt' or 'expiresAt' (the set lists open rows with that field as their score), 'standing' (it lists every row
-- with the score of tenants/scores), or 'any' (it lists every row). Returns the number of repairs.
local row = KEYS[1]
local id, retention = ARGV[1], tonumber(ARGV[2])
local firstSet, firstRule = 2, 3
local now = readClock()
local fields = redis.pcall('HMGET', row, 'createdAt', 'expiresAt', 'settledAt', 'keptMs')
if fields.err then fields = {} end
local scores = { createdAt = fields[1], expiresAt = fields[2] }
local settledAt = tonumber(fields[3] or nil)
local exists = scores.createdAt and true or false
local open = exists and not settledAt
retention = tonumber(fields[4] or nil) or retention
local fixed = 0

if exists then scores.standing = settledAt and string.format('%.0f', -settledAt) or fields[1] end

for index = firstSet, #KEYS do
  local set, rule = KEYS[index], ARGV[index - firstSet + firstRule]
  local score = redis.call('ZSCORE', set, id)
  if scores[rule] and (open or rule == 'standing') then
    if not score or tonumber(score) ~= tonumber(scores[rule]) then
      redis.call('ZADD', set, scores[rule], id)
      fixed = fixed + 1
    end
    local life = (tonumber(fields[2]) or now) - now + retention
    if rule == 'standing' and redis.call('PTTL', set) < life then redis.call('PEXPIRE', set, string.format('%.0f', life)) end
  elseif score and not (exists and rule == 'any') then
    redis.call('ZREM', set, id)
    fixed = fixed + 1
  end
end

if not exists then return fixed end
local life = redis.call('PTTL', row)
if open and life >= 0 then
  redis.call('PERSIST', row)
  fixed = fixed + 1
elseif settledAt and (life < 0 or life > retention) then
  local remaining = math.min(retention, settledAt + retention - now)
  if remaining > 0 then redis.call('PEXPIRE', row, remaining) else redis.call('DEL', row) end
  fixed = fixed + 1
end
return fixed
