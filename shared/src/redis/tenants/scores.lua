-- Piece: the scores of a tenant's lists. The score of an open entry is the time of its start, and that of an ended entry is the
-- negative time of its end.

-- The lowest and the highest score of entries that began ('open') or ended between `minAge` and `maxAge` ms before `now`; nil
-- for no bound.
local function scoresOf(state, minAge, maxAge, now)
  local earliest, latest = maxAge and now - maxAge or 1, minAge and now - minAge or math.huge
  if state == 'ended' then return -latest, -earliest end
  return earliest, latest
end

local function scoreText(score)
  if score == math.huge then return '+inf' end
  if score == -math.huge then return '-inf' end
  return string.format('%.0f', score)
end
