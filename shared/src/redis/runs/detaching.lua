-- Piece: detaching a run from its pod until something for which it waits has ended. Uses outbox/tasks.

-- True if a question of KEYS from `firstQuestion` on, or a run from `firstRun` on, is no reason to wait any more.
local function hasWaitEnded(firstQuestion, firstRun, detachedOwner)
  for index = firstQuestion, firstRun - 1 do
    local question = redis.call('HGET', KEYS[index], 'status')
    if question ~= 'pending' and question ~= 'opened' then return true end
  end
  for index = firstRun, #KEYS do
    if redis.call('HGET', KEYS[index], 'owner') ~= detachedOwner then return true end
  end
  return false
end

-- Detaches a run. Each of its questions stores the task that resumes the run; with a time, the task is noted now.
local function detachRun(key, arg, now, firstQuestion, firstRun)
  local newTerm = arg.term + 1
  redis.call('HSET', key.run, 'owner', arg.detachedOwner, 'term', newTerm, 'detached', '1',
    'owner:' .. newTerm, string.format('%.0f %s', now, arg.detachedOwner))
  redis.call('HDEL', key.run, 'restsUntil')
  redis.call('HDEL', key.running, arg.field)
  redis.call('PEXPIRE', key.listed, arg.runLife, 'GT')
  for _, each in ipairs({ key.conversation, key.messages }) do redis.call('PEXPIRE', each, arg.runLife, 'GT') end
  for index = firstQuestion, firstRun - 1 do
    local lines = arg.resumeTask .. ' ' .. newTerm .. '\n'
    for line in string.gmatch(redis.call('HGET', KEYS[index], 'resumes') or '', '[^\n]+') do
      -- The line of an earlier wait of this run is replaced.
      if string.sub(line, 1, #arg.resumeTask + 1) ~= arg.resumeTask .. ' ' then lines = lines .. line .. '\n' end
    end
    redis.call('HSET', KEYS[index], 'resumes', lines)
  end
  if arg.resumeAfter ~= '' then
    redis.call('HSET', key.run, 'restsUntil', string.format('%.0f', now + arg.resumeAfter))
    noteTask(key.resumptions, key.tries, arg.resumeTask .. ' ' .. newTerm, now, arg.resumeAfter)
  end
end
