-- requires: client/clock
-- Arms the earliest deadline of a bucket, after the first `skipped` ones. An armed deadline that has not passed and is
-- not later stays armed. The key `armed` holds '<deadline in ms> <elicitation>'. Returns {deadline, elicitation, ms
-- until the deadline}; nothing if there is no deadline to arm.
local deadlines, armed = KEYS[1], KEYS[2]
local skipped = ARGV[1]
local now = readClock()
local first, firstAt = unpack(redis.call('ZRANGE', deadlines, skipped, skipped, 'WITHSCORES'))
local at, id = string.match(redis.call('GET', armed) or '', '^(%d+) (.+)$')
local stays = at and tonumber(at) > now and (not first or tonumber(at) <= tonumber(firstAt))
if not stays then
  at, id = firstAt, first
  if not first then
    redis.call('DEL', armed)
    return {}
  end
  redis.call('SET', armed, at .. ' ' .. id)
end
return { tonumber(at), id, tonumber(at) - now }
