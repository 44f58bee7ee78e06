-- Returns the indexes of those keys in KEYS that exist, counted from 1.
local occupied = {}
if redis.call('EXISTS', unpack(KEYS)) == 0 then return occupied end
for index, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then occupied[#occupied + 1] = index end
end
return occupied
