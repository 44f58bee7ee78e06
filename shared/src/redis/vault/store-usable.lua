-- Piece: storing a usable credential. Needs client/clock. Versions are microseconds of the clock, so that they rise even after
-- a removal. Returns the new version as text.
local function storeUsable(credential, sealed, currentVersion)
  local now, microseconds = readClock()
  local version = string.format('%.0f', math.max(microseconds, tonumber(currentVersion or 0) + 1))
  redis.call('HSET', credential, 'sealed', sealed, 'version', version, 'state', 'usable',
    'savedAt', string.format('%.0f', now))
  return version
end
