-- Piece: announces a change of a record or turn to the watchers of its tenant. `watched` exists while the tenant is watched,
-- and is the number of the last change published in its bucket.

local function isWatched(watched) return redis.call('EXISTS', watched) == 1 end

-- `path`: '<tenant>/<user>/<id>', encoded. `kind`: 'record' or 'turn'. now: in ms. All buckets of a tenant share one channel.
local function tellChange(watched, kind, word, path, now)
  local root, tag, tenant = string.match(watched, '^(.-){(.-)}:watched:(.*)$')
  local number = redis.call('INCR', watched)
  local change = string.format('%s %.0f %.0f %s %s %s', tag, number, now, kind, word, path)
  redis.call('PUBLISH', root .. '{tenants}:changes:' .. tenant, change)
end
