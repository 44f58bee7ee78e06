-- Takes points from budgets, each of which holds for a fixed window (ms).
-- ARGV: for each counter in KEYS its budget, window and the points wanted.
-- Returns for each {points granted, ms until the window ends}; the ms are 0 where a single point was granted. Where none is
-- wanted, nothing is taken, and {1, 0} says that some are left.
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
  -- A caller that wants one point and gets it needs no end of the window.
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
