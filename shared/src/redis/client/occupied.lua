-- Returns the indexes, from 1, of the existing keys in KEYS.
local occupied = {}
if redis.call('EXISTS', unpack(KEYS)) == 0 then return occupied end
for index, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then occupied[#occupied + 1] = index end
end
return occupied
