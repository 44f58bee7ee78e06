-- Takes points from a budget that holds for a fixed window (ms).
-- Returns {points granted, ms until the window ends}; the ms are 0 where a single point was granted.
local counter = KEYS[1]
local budget, window, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = redis.call('INCRBY', counter, wanted)
if used == wanted then
  redis.call('PEXPIRE', counter, window)
  return { math.min(wanted, budget), window }
end
-- A caller that wants one point and gets it needs no end of the window.
if wanted == 1 and used <= budget then return { 1, 0 } end
local remaining = redis.call('PTTL', counter)
if remaining < 0 then
  redis.call('PEXPIRE', counter, window)
  remaining = window
end
return { math.max(0, math.min(wanted, budget - used + wanted)), remaining }
