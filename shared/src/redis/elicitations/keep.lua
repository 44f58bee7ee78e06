-- Sets how long an ended row is kept, in ms from now. The field `keptMs` records a time that differs from the retention (ms).
local row = KEYS[1]
local keptMs, retention = unpack(ARGV)
if redis.call('HEXISTS', row, 'settledAt') == 0 then return 0 end
if tonumber(keptMs) == tonumber(retention) then
  redis.call('HDEL', row, 'keptMs')
else
  redis.call('HSET', row, 'keptMs', keptMs)
end
return redis.call('PEXPIRE', row, keptMs)
