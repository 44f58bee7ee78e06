-- requires: client/clock, tenants/tell-change
-- Gives a running turn to another owner if `seenTerm` is its current term. A repeated call of the new owner gets the
-- same term.
-- running: the index of running turns; field: the turn's field in it. turns: set of the keys of the person's running
-- turns, kept for `runLife` ms. watched: see tenants/tell-change. soonMs: an owner that dies within this time after
-- taking the turn adds to `deaths`; one that dies later resets the count, if the turn has finished a step since the
-- last death. ARGV after the named ones: owners that are no pods.
-- Returns the new term; 0 if the turn is not running under the seen term.
local run, running, turns, watched = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local seenTerm, newOwner, field, runLife, soonMs = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local firstNoPod = 6
local status, term, owner, metered, parent = unpack(redis.call('HMGET', run, 'status', 'term', 'owner', 'metered', 'parent'))
if status ~= 'running' then return 0 end
term = tonumber(term)
if term == seenTerm + 1 and owner == newOwner then return term end
if term ~= seenTerm then return 0 end
local now = readClock()
local fromPodToPod = true
for index = firstNoPod, #ARGV do
  if ARGV[index] == owner or ARGV[index] == newOwner then fromPodToPod = false end
end
if fromPodToPod then
  local since = string.match(redis.call('HGET', run, 'owner:' .. term) or '', '^%d+')
  local stepsAtDeath = tonumber(redis.call('HGET', run, 'stepsAtDeath') or 0)
  local steps = stepsAtDeath
  while redis.call('HEXISTS', run, 'step:' .. steps) == 1 do steps = steps + 1 end
  if now - tonumber(since or now) < soonMs then redis.call('HINCRBY', run, 'deaths', 1)
  elseif steps > stepsAtDeath then redis.call('HDEL', run, 'deaths') end
  redis.call('HINCRBY', run, 'takeOvers', 1)
  redis.call('HSET', run, 'stepsAtDeath', steps)
end
redis.call('HSET', run, 'term', term + 1, 'owner', newOwner,
  'owner:' .. term + 1, string.format('%.0f %s', now, newOwner))
redis.call('HDEL', run, 'writes')
redis.call('HSET', running, field, newOwner)
-- A detached turn was not counted among the running ones.
if metered and not parent then
  redis.call('SADD', turns, run)
  redis.call('PEXPIRE', turns, runLife)
end
if isWatched(watched) then tellChange(watched, 'turn', 'changed', field, now) end
return term + 1
