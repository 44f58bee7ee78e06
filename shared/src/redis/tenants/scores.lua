-- Piece: the scores of a list of a tenant. What is open has the time of its begin as its score, what has ended the negative
-- time of its end.

-- The lowest and the highest score of what began ('open') or ended at least `minAge` and at most `maxAge` ms before `now`;
-- nil: no bound.
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
