-- requires: client/clock
-- Renews places for a lease in ms. The place at each index is in the zset at the same index of KEYS. Returns 1 for each
-- place that was held, and 0 for each that does not exist.
local lease = tonumber(ARGV[1])
local untilTime = readClock() + lease
local held = {}
for index, places in ipairs(KEYS) do
  local place = ARGV[index + 1]
  -- If the lease already ends at this very ms, ZADD reports no change, so the place is looked up.
  held[index] = redis.call('ZADD', places, 'XX', 'CH', untilTime, place)
  if held[index] == 0 and redis.call('ZSCORE', places, place) then held[index] = 1 end
  if held[index] == 1 then redis.call('PEXPIRE', places, lease, 'GT') end
end
return held
