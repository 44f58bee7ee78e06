-- requires: client/clock
-- Gives a running turn to another owner, if `seenTerm` is its current term. A repeated call of the new owner gets its term.
-- running: the index of running turns; field: the turn's field in it. ARGV beyond the named ones: owners that are no pods.
-- Returns the new term; 0 when the turn does not run under the seen term.
local run, running = KEYS[1], KEYS[2]
local seenTerm, newOwner, field = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local firstNoPod = 4
local status, term, owner = unpack(redis.call('HMGET', run, 'status', 'term', 'owner'))
if status ~= 'running' then return 0 end
term = tonumber(term)
if term == seenTerm + 1 and owner == newOwner then return term end
if term ~= seenTerm then return 0 end
local fromPodToPod = 1
for index = firstNoPod, #ARGV do
  if ARGV[index] == owner or ARGV[index] == newOwner then fromPodToPod = 0 end
end
redis.call('HINCRBY', run, 'takeoverCount', fromPodToPod)
redis.call('HSET', run, 'term', term + 1, 'owner', newOwner,
  'owner:' .. term + 1, string.format('%.0f %s', readClock(), newOwner))
redis.call('HDEL', run, 'writes')
redis.call('HSET', running, field, newOwner)
return term + 1
