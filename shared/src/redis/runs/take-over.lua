-- Gives a running turn to another owner, if the caller knows its current term.
-- KEYS 1 run (hash)  2 running turns (hash)
-- ARGV 1 term the caller saw  2 new owner  3 field among the running turns   then the owners that are no pods
-- Returns the new term; 0 when the run is not running under that term. A repeated call of the same owner gets its term.
local stands = redis.call('HMGET', KEYS[1], 'status', 'term', 'owner')
if stands[1] ~= 'running' then return 0 end
local term, seen = tonumber(stands[2]), tonumber(ARGV[1])
if term == seen + 1 and stands[3] == ARGV[2] then return term end
if term ~= seen then return 0 end
local takeoverCount = 1
for index = 4, #ARGV do
  if ARGV[index] == stands[3] or ARGV[index] == ARGV[2] then takeoverCount = 0 end
end
redis.call('HINCRBY', KEYS[1], 'takeoverCount', takeoverCount)
redis.call('HSET', KEYS[1], 'term', term + 1, 'owner', ARGV[2])
redis.call('HDEL', KEYS[1], 'writes')
redis.call('HSET', KEYS[2], ARGV[3], ARGV[2])
return term + 1
