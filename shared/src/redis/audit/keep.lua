-- Lets an ended row stay for so long from now, and then leave.
-- KEYS 1 row (hash)   ARGV 1 for how long, in ms  2 retention in ms
if redis.call('HEXISTS', KEYS[1], 'settledAt') == 0 then return 0 end
if tonumber(ARGV[1]) == tonumber(ARGV[2]) then
  redis.call('HDEL', KEYS[1], 'keptMs')
else
  redis.call('HSET', KEYS[1], 'keptMs', ARGV[1])
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
