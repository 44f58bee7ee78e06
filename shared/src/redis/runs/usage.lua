-- Piece: the usage of one person's chats, updated in the step that writes.
-- usage (hash): the bytes of each entry, their `total`, and the number of `conversations`. ends (zset): the entries by expiry
-- time (ms). Entries: 'run <stream request>', 'conversation <id>', and 'unlisted <id>' for a conversation that does not count
-- as one.

local function nameConversation(id, isUnlisted) return (isUnlisted and 'unlisted ' or 'conversation ') .. id end

local function isConversation(entry) return string.sub(entry, 1, 13) == 'conversation ' end

-- Keeps a key for at least `life` ms.
local function keepAtLeast(key, life)
  if redis.call('PTTL', key) < tonumber(life) then redis.call('PEXPIRE', key, life) end
end

-- Removes an entry, and subtracts its numbers.
local function removeEntry(usage, ends, entry)
  local bytes = redis.call('HGET', usage, entry)
  if bytes then
    redis.call('HDEL', usage, entry)
    redis.call('HINCRBY', usage, 'total', 0 - bytes)
    if isConversation(entry) then redis.call('HINCRBY', usage, 'conversations', -1) end
  end
  redis.call('ZREM', ends, entry)
end

-- Removes entries that have expired.
local function removeExpired(usage, ends, now)
  for _, entry in ipairs(redis.call('ZRANGE', ends, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000)) do
    removeEntry(usage, ends, entry)
  end
end

-- Sets the bytes of an entry that expires in `life` ms.
local function setStored(usage, ends, entry, bytes, now, life)
  local before = redis.call('HGET', usage, entry) or 0
  redis.call('HINCRBY', usage, 'total', bytes - before)
  local isNew = redis.call('HSET', usage, entry, bytes) == 1
  if isNew and isConversation(entry) then redis.call('HINCRBY', usage, 'conversations', 1) end
  redis.call('ZADD', ends, now + life, entry)
  keepAtLeast(usage, life)
  keepAtLeast(ends, life)
end
