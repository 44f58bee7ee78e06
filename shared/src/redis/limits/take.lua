-- Takes points from budgets. A budget is valid for a fixed window (ms).
-- ARGV: for each counter in KEYS its budget, its window and the wanted points. Returns {granted points, ms until the window
-- ends} for each; the ms are 0 if a single point was wanted and granted. For 0 wanted points nothing is taken, and {1, 0} says
-- that some are left.
local function look(counter, budget)
  if tonumber(redis.call('GET', counter) or 0) < budget then return { 1, 0 } end
  return { 0, math.max(0, redis.call('PTTL', counter)) }
end

local function take(counter, budget, window, wanted)
  local used = redis.call('INCRBY', counter, wanted)
  wanted = tonumber(wanted)
  if used == wanted then
    redis.call('PEXPIRE', counter, window)
    return { math.min(wanted, budget), tonumber(window) }
  end
  -- A caller that wanted one point and got it does not need the end of the window.
  if wanted == 1 and used <= budget then return { 1, 0 } end
  local remaining = redis.call('PTTL', counter)
  if remaining < 0 then
    redis.call('PEXPIRE', counter, window)
    remaining = tonumber(window)
  end
  return { math.max(0, math.min(wanted, budget - used + wanted)), remaining }
end

local grants = {}
for index, counter in ipairs(KEYS) do
  local budget, window, wanted = unpack(ARGV, 3 * index - 2, 3 * index)
  budget = tonumber(budget)
  grants[index] = wanted == '0' and look(counter, budget) or take(counter, budget, window, wanted)
end
return grants
