-- requires: client/clock, tenants/scores
-- Counts entries in several lists of one tenant, by ranges. KEYS: the lists (zsets) with the scores of tenants/scores.
-- ARGV, for each range: 'open' or 'ended', and the minimum and maximum age in ms, or ''. Returns the number for each
-- range.
local now = readClock()
local counts = {}
for index = 1, #ARGV, 3 do
  local low, high = scoresOf(ARGV[index], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2]), now)
  local count = 0
  for _, key in ipairs(KEYS) do count = count + redis.call('ZCOUNT', key, scoreText(low), scoreText(high)) end
  counts[#counts + 1] = count
end
return counts
