-- Returns the indexes of those deadline indexes in KEYS (zsets) that list anything, counted from 1.
local occupied = {}
if redis.call('EXISTS', unpack(KEYS)) == 0 then return occupied end
for index, deadlines in ipairs(KEYS) do
  if redis.call('EXISTS', deadlines) == 1 then occupied[#occupied + 1] = index end
end
return occupied
