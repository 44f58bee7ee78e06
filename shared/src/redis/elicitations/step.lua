-- Piece: one atomic step of one elicitation. It compares the revision, writes the row, appends to the feed, updates the
-- indexes, notes outbox tasks, and publishes the wakes last. The rules are in domain/elicitations/transition.ts; this
-- piece only compares, stamps the time and appends.
--
-- guard: 'open' (only before the deadline) or 'due' (only at or after it); ignored for a creation
-- feedEventsMax: '' for an elicitation that is alone on a stream request of its own. No feed is stored for it, because
-- its events follow from its row: the field `writtenAt` lists the times of its commits (microseconds, separated by
-- spaces). A row with a feed has the epoch of the feed in the field `feedEpoch`.
-- Arguments of a creation: timeout in ms, definition JSON, maximum of open elicitations per owner, maximum bytes of
-- their definitions, conversation, claimed stream request or '', idempotency key or ''
-- Arguments of a move: settlement JSON, maximum of ended elicitations per owner, how long the ended row is kept in ms,
-- when the row was created (a row may be gone and created again under its id), a later deadline in ms or ''. The field
-- `extensions` of the row lists each revision that moved the deadline, with the new deadline. The armed deadline is not
-- changed: its job finds nothing due, and arms the next one.
-- inbox: the zset of open records, and also the channel of its readers
-- inboxBytes: at least the bytes of the owner's open definitions. Each creation adds its own bytes, but no end
-- subtracts any, which would take three more commands. The bytes are counted again if nothing else is open, or if they
-- exceed the maximum.
-- history: trimmed at random times, so that it may exceed its maximum by about a sixteenth
-- armed: '<deadline in ms> <elicitation>', the deadline of the bucket for which a job was added
-- ofTurn: '1' when the stream request is a turn's. The set `subscribers`, named like its channel, holds the delivery
-- kinds that follow the turn; each gets a task '<kind> <elicitation>'.
-- names: zset of what no other index of the owner lists, by the time (ms) until which it may stay, for erasures
-- nameLife: that time, from now
-- listed: zset of the tenant's records of this family in the bucket, see tenants/scores. watched: see
-- tenants/tell-change. fence (creation only): exists after an erasure of the owner
-- Further keys: outboxes (zsets); for a turn's stream request its subscribers; the leases of tasks; the list of the
-- tenant's deliveries. This piece builds their names itself. Further arguments: outbox members '<kind> <subject>...' to
-- note. The field `resumes` of the row holds more members, one per line, which the end of the elicitation notes.
-- Returns {1, now, noted members beyond the given ones (lines), 1 if a creation has armed its deadline and needs a job}
-- when committed; {0, now, row fields...} if the row has another revision or has ended, or the guard does not hold;
-- {-1, now} if the owner's open elicitations are too many or too large; {-2, now, ms} if the owner was erased and the
-- fence lasts for that long.

-- Redis formats a number argument with 17 digits, which takes longer than most commands; a text is passed on as it is.
local function textOf(number) return string.format('%d', number) end

-- Lets a key live for at least `life` ms. The extra sixteenth makes renewals rare.
local function keepFor(key, life)
  if redis.call('PTTL', key) < tonumber(life) then redis.call('PEXPIRE', key, textOf(life * 17 / 16)) end
end

-- The bytes of the definitions of all rows in an inbox.
local function countInbox(inbox, rowPrefix)
  local bytes = 0
  for _, id in ipairs(redis.call('ZRANGE', inbox, 0, -1)) do
    bytes = bytes + redis.call('HSTRLEN', rowPrefix .. id, 'definition')
  end
  return bytes
end

local function commitStep(keys, args)
  local row, feed, inbox, history, deadlines, inboxBytes, armed, names, listed, watched, fence = unpack(keys, 1, 11)
  local revision, guard, id, status, ends, eventName, eventJson, wakeJson, streamChannel, retention, feedEventsMax, nameLife, ofTurn
    = unpack(args, 1, 13)
  local timeout, definition, openMax, openBytesMax, conversationId, streamRequestId, idempotencyKey = unpack(args, 14, 20)
  local settlement, endedMax, keptMs, decidedCreatedAt, extendsTo = unpack(args, 14, 18)

  local now, microseconds = readClock()
  local nowText = textOf(now)
  local creates = revision == '0'
  local firstTask = creates and 21 or 19
  local extends = not creates and extendsTo ~= ''
  ends = ends == '1'

  local function refuse()
    local reply = redis.call('HGETALL', row)
    table.insert(reply, 1, 0)
    table.insert(reply, 2, now)
    return reply
  end

  -- Adds the new definition to the bytes of the open ones. Returns false if they are too many or too large together.
  local function isRoomInInbox(life)
    local bytes, open = #definition, redis.call('ZCARD', inbox)
    if open >= tonumber(openMax) then return false end
    local others = 0
    if open > 0 then
      local counted = redis.call('INCRBY', inboxBytes, textOf(bytes))
      -- A counter that has expired starts with the new definition alone, so it is not trusted.
      if counted > bytes and counted <= tonumber(openBytesMax) then return true end
      others = countInbox(inbox, string.sub(row, 1, #row - #id))
    end
    local isRoom = others + bytes <= tonumber(openBytesMax)
    redis.call('SET', inboxBytes, textOf(isRoom and others + bytes or others), 'PX', life)
    return isRoom
  end

  local function addName(name)
    if microseconds % 16 == 0 then redis.call('ZREMRANGEBYSCORE', names, '-inf', nowText) end
    redis.call('ZADD', names, textOf(now + nameLife), name)
    keepFor(names, nameLife)
  end

  local feedTtl = retention
  local arms = 0
  local resumes, writtenAt, feedEpoch, lastNumber
  if creates then
    if redis.call('EXISTS', row, fence) > 0 then
      if redis.call('EXISTS', row) == 1 then return refuse() end
      return { -2, now, redis.call('PTTL', fence) }
    end
    feedTtl = textOf(retention + timeout)
    if not isRoomInInbox(feedTtl) then return { -1, now } end
    local expiresAt = now + timeout
    local expiresAtText = textOf(expiresAt)
    if feedEventsMax == '' then writtenAt = textOf(microseconds)
    else feedEpoch, lastNumber = findFeedEnd(feed, microseconds) end
    redis.call('HSET', row, 'status', status, 'revision', '1', 'createdAt', nowText, 'expiresAt', expiresAtText,
      'definition', definition, 'conversationId', conversationId,
      feedEpoch and 'feedEpoch' or 'writtenAt', feedEpoch or writtenAt)
    redis.call('ZADD', inbox, nowText, id)
    redis.call('ZADD', deadlines, expiresAtText, id)
    redis.call('ZADD', listed, nowText, id)
    keepFor(listed, feedTtl)
    local armedAt = tonumber(string.match(redis.call('GET', armed) or '', '^%d+'))
    -- The job of a deadline that has passed may have been lost with its worker.
    if not armedAt or armedAt > expiresAt or armedAt <= now then
      redis.call('SET', armed, expiresAtText .. ' ' .. id)
      arms = 1
    end
    if streamRequestId ~= '' then addName('stream ' .. streamRequestId) end
    if idempotencyKey ~= '' then addName('key ' .. id .. ' ' .. idempotencyKey) end
  else
    local currentRevision, expiresAt, createdAt, settledAt
    currentRevision, expiresAt, createdAt, settledAt, resumes, writtenAt, feedEpoch = unpack(redis.call('HMGET', row, 'revision',
      'expiresAt', 'createdAt', 'settledAt', 'resumes', 'writtenAt', 'feedEpoch'))
    -- `settledAt` is checked too: if Redis has lost a commit, an ended row may have the revision under which a process cached
    -- the open row.
    if currentRevision ~= revision or createdAt ~= decidedCreatedAt or settledAt then return refuse() end
    if (now >= tonumber(expiresAt)) ~= (guard == 'due') then return refuse() end
    local fields = { 'status', status, 'revision', textOf(revision + 1) }
    local function set(name, value)
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
    if writtenAt then set('writtenAt', writtenAt .. ' ' .. textOf(microseconds)) end
    if extends then
      local extensions = redis.call('HGET', row, 'extensions')
      set('expiresAt', extendsTo)
      set('extensions', (extensions and extensions .. ' ' or '') .. textOf(revision + 1) .. ' ' .. extendsTo)
      redis.call('ZADD', deadlines, extendsTo, id)
      feedTtl = textOf(retention + extendsTo - now)
      keepFor(listed, feedTtl)
    end
    if ends then
      set('settlement', settlement)
      set('settledAt', nowText)
      if keptMs ~= retention then set('keptMs', keptMs) end
    end
    redis.call('HSET', row, unpack(fields))
    if ends then
      redis.call('ZREM', inbox, id)
      redis.call('ZREM', deadlines, id)
      -- With XX, a row of an earlier version, which is not listed, is not added: its list might never expire.
      redis.call('ZADD', listed, 'XX', textOf(-now), id)
      if guard == 'due' then keepFor(listed, retention) end
      -- One end in sixteen removes what ended before the retention from the list.
      if microseconds % 16 == 0 then removeOldest(listed, retention, now) end
      redis.call('ZADD', history, createdAt, id)
      -- A long history is trimmed in parts, so that Redis is not blocked for long.
      if microseconds % math.max(1, math.min(64, math.floor(endedMax / 16))) == 0 then
        local beyond = math.min(redis.call('ZCARD', history) - endedMax, 1000)
        local oldest = beyond > 0 and redis.call('ZPOPMIN', history, beyond) or {}
        for index = 1, #oldest, 2 do addName('elicitation ' .. oldest[index]) end
      end
      keepFor(history, retention)
      redis.call('PEXPIRE', row, keptMs)
      if keptMs ~= retention then addName('elicitation ' .. id) end
    end
  end

  local noted = ends and resumes or ''
  if ofTurn == '1' then
    for _, kind in ipairs(redis.call('SMEMBERS', (string.gsub(streamChannel, ':stream:', ':subscribers:', 1)))) do
      noted = noted .. kind .. ' ' .. id .. '\n'
    end
  end
  if #args >= firstTask or noted ~= '' then
    -- Members may be of kinds that this version does not know, so the name of the outbox is built from the member.
    local bucket = string.match(deadlines, '^(.*):deadlines$')
    local deliveries = bucket .. ':listed-deliveries:' .. string.match(listed, '[^:]*$')
    local function note(member)
      noteTask(bucket .. ':outbox:' .. string.match(member, '^%S+'), bucket .. ':outbox-tries', member, now, nil, deliveries)
    end
    for index = firstTask, #args do note(args[index]) end
    for member in string.gmatch(noted, '[^\n]+') do note(member) end
  end

  local position
  if writtenAt then
    position = string.match(writtenAt, '^%d+') .. '-' .. textOf((revision + 1) * 1000000 + microseconds % 1000000)
  else
    local events = { eventName, eventJson }
    if creates then
      position, lastNumber = appendAfter(redis.call, feed, feedEpoch, lastNumber, microseconds, events, 1, feedEventsMax)
    else
      position, lastNumber = appendEvents(feed, feedEpoch, microseconds, events, 1, feedEventsMax)
    end
    -- The feed already lives for the retention after the deadline of each of its elicitations.
    if creates or extends or guard == 'due' or lastNumber == 1 then keepFor(feed, feedTtl) end
  end
  publishWake(position, nowText, wakeJson, streamChannel, inbox)
  if isWatched(watched) then
    local path = string.match(inbox, ':inbox:(.*)$') .. '/' .. id
    tellChange(watched, 'record', creates and 'began' or ends and 'ended' or 'changed', path, now)
  end
  return { 1, now, noted, arms }
end
