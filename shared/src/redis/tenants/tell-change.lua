-- Piece: tells those who watch a tenant of a change of a record or of a turn. `watched` exists while somebody watches, and is the number
-- of the last change that was told in its bucket.

local function isWatched(watched) return redis.call('EXISTS', watched) == 1 end

-- `path`: '<tenant>/<user>/<id>', encoded; `kind`: 'record' or 'turn'; now: in ms. One channel serves all buckets of the tenant.
local function tellChange(watched, kind, word, path, now)
  local root, tag, tenant = string.match(watched, '^(.-){(.-)}:watched:(.*)$')
  local number = redis.call('INCR', watched)
  local change = string.format('%s %.0f %.0f %s %s %s', tag, number, now, kind, word, path)
  redis.call('PUBLISH', root .. '{tenants}:changes:' .. tenant, change)
end
