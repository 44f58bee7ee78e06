-- Piece: the end of a run. It uses runs/usage, outbox/tasks and tenants/leaving.

-- The bytes of the images in a person's message. JSON escapes quotes inside texts, so none of them can look like a key.
local function imageBytesOf(message)
  local bytes = 0
  if string.sub(message, 1, 14) ~= '{"role":"user"' then return bytes end
  for data in string.gmatch(message, '"data":"([^"]*)') do bytes = bytes + #data end
  return bytes
end

-- Adds the messages of ARGV from `first` to `last` to a conversation, and removes the oldest ones beyond its limits. Returns
-- the bytes of the remaining messages, and the bytes of their images.
local function keepMessages(key, arg, first, last)
  local added = last - first + 1
  local bytes, imageBytes = 0, 0
  if redis.call('EXISTS', key.messages) == 1 then
    bytes = tonumber(redis.call('HGET', key.conversation, 'messageBytes') or 0)
    imageBytes = tonumber(redis.call('HGET', key.conversation, 'imageBytes') or 0)
  end
  for index = first, last do
    redis.call('RPUSH', key.messages, ARGV[index])
    bytes = bytes + #ARGV[index]
    imageBytes = imageBytes + imageBytesOf(ARGV[index])
  end
  local count = redis.call('LLEN', key.messages)
  while count > tonumber(arg.messagesMax) or (count > added
    and (bytes - imageBytes > tonumber(arg.historyBytesMax) or imageBytes > tonumber(arg.imageBytesMax))) do
    local oldest = redis.call('LPOP', key.messages)
    bytes = bytes - #oldest
    imageBytes = imageBytes - imageBytesOf(oldest)
    count = count - 1
  end
  return math.max(0, bytes), math.max(0, imageBytes)
end

-- Notes a task '<kind> <field>' for each delivery kind that follows the turn.
local function noteFollowers(key, arg, now)
  for _, kind in ipairs(redis.call('SMEMBERS', (string.gsub(arg.channel, ':stream:', ':subscribers:', 1)))) do
    local bucket, member = string.match(key.running, '^(.*):running$'), kind .. ' ' .. arg.field
    local deliveries = bucket .. ':listed-deliveries:' .. string.match(key.listed, '[^:]*$')
    noteTask(bucket .. ':outbox:' .. kind, bucket .. ':outbox-tries', member, now, nil, deliveries)
  end
end

-- Ends a run, and adds the messages of ARGV from `first` to `last` to its conversation. `stored`: fields of the run.
local function endRun(key, arg, stored, now, first, last)
  -- Nobody continues the conversation of a delegate, or an unlisted one, from a list of chats.
  local life = (stored.parent or stored.unlisted) and arg.retention or arg.conversationLife
  redis.call('HSET', key.run, 'status', arg.endStatus, 'endedAt', now)
  redis.call('HDEL', key.running, arg.field)
  -- With XX, a turn of an earlier version, which is not listed, is not added: its list might never expire.
  redis.call('ZADD', key.listed, 'XX', string.format('%.0f', -now), arg.field)
  removeOldest(key.listed, arg.retention, now)
  redis.call('PEXPIRE', key.run, arg.retention)
  redis.call('PEXPIRE', key.feed, arg.retention)
  if redis.call('HGET', key.conversation, 'running') == arg.streamRequestId then
    redis.call('HDEL', key.conversation, 'running')
  end
  local messageBytes, imageBytes = keepMessages(key, arg, first, last)
  redis.call('PEXPIRE', key.messages, life)
  redis.call('HSET', key.conversation, 'last', arg.streamRequestId, 'lastDetached', stored.detached or '0',
    'lastTraceparent', stored.traceparent or '', 'updatedAt', now, 'messageBytes', messageBytes, 'imageBytes', imageBytes)
  if stored.metered and not stored.parent then
    setStored(key.usage, key.usageEnds, nameConversation(stored.conversationId, stored.unlisted), messageBytes, now, life)
  end
  noteFollowers(key, arg, now)
  redis.call('PEXPIRE', key.conversation, life)
end
