-- Takes points from a budget of a fixed window.
-- KEYS 1 counter   ARGV 1 points in the budget   2 window in ms   3 points wanted
-- Returns {points granted, ms until the window ends}.
local used = redis.call('INCRBY', KEYS[1], ARGV[3])
local wanted, budget = tonumber(ARGV[3]), tonumber(ARGV[1])
if used == wanted then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return { math.max(0, math.min(wanted, budget - used + wanted)), left }
