-- Piece: what leaves a list of a tenant, see tenants/slice.

-- Removes the oldest of what ended before the retention. So few at a time, because Redis does nothing else in the meantime.
local function removeOldest(listed, retention, now)
  local oldest = redis.call('ZRANGE', listed, '(0', string.format('%.0f', retention - now), 'BYSCORE', 'REV', 'LIMIT', 0, 100)
  if #oldest > 0 then redis.call('ZREM', listed, unpack(oldest)) end
end
