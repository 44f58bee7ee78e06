-- requires: client/clock
-- Keeps buckets of a tenant watched, see tenants/tell-change. KEYS: `watched` of each bucket. life: for how many ms. A
-- bucket that was not watched starts counting at the present microsecond, so that its numbers never repeat those of an
-- earlier count. Returns the number of the last change published in each bucket.
local life = ARGV[1]
local _, microseconds = readClock()
local numbers = {}
for index, watched in ipairs(KEYS) do
  if redis.call('EXISTS', watched) == 1 then redis.call('PEXPIRE', watched, life)
  else redis.call('SET', watched, string.format('%.0f', microseconds), 'PX', life) end
  numbers[index] = redis.call('GET', watched)
end
return numbers
