-- Piece: the clock of this Redis server.
-- Returns the time in ms and the time in microseconds.
local function readClock()
  local time = redis.call('TIME')
  local seconds, microseconds = time[1], time[2]
  return seconds * 1000 + math.floor(microseconds / 1000), seconds * 1000000 + microseconds
end
