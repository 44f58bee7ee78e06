-- requires: client/clock
-- Keeps buckets of a tenant watched, see tenants/tell-change. KEYS: `watched` of each. life: for how many ms.
-- A bucket that was not watched begins to count at the microsecond: its numbers are never those of an earlier count.
-- Returns the number of the last change that was told in each.
local life = ARGV[1]
local _, microseconds = readClock()
local numbers = {}
for index, watched in ipairs(KEYS) do
  if redis.call('EXISTS', watched) == 1 then redis.call('PEXPIRE', watched, life)
  else redis.call('SET', watched, string.format('%.0f', microseconds), 'PX', life) end
  numbers[index] = redis.call('GET', watched)
end
return numbers
