-- Piece: trimming the list of a tenant, see tenants/slice.

-- Removes the oldest entries that ended before the retention, only a few at a time, because a script blocks Redis.
local function removeOldest(listed, retention, now)
  local oldest = redis.call('ZRANGE', listed, '(0', string.format('%.0f', retention - now), 'BYSCORE', 'REV', 'LIMIT', 0, 100)
  if #oldest > 0 then redis.call('ZREM', listed, unpack(oldest)) end
end
