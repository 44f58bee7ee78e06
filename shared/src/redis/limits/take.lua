-- Takes points from a budget of a fixed window.
-- KEYS 1 counter   ARGV 1 points in the budget   2 window in ms   3 points wanted
-- Returns {points granted, ms until the window ends}; the ms are 0 where a single point was granted.
local used = redis.call('INCRBY', KEYS[1], ARGV[3])
local wanted, budget = tonumber(ARGV[3]), tonumber(ARGV[1])
if used == wanted then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return { math.min(wanted, budget), tonumber(ARGV[2]) }
end
-- One point of many needs no more than the count.
if wanted == 1 and used <= budget then return { 1, 0 } end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return { math.max(0, math.min(wanted, budget - used + wanted)), left }
