-- Dead letters whose time is not over, newest first, from a place on.
-- KEYS 1 dead letters (zset)  2 their details (hash)
-- ARGV 1 how long they are kept, in ms   2 newest to begin with (ms, or +inf)   3 how many to pass over   4 how many at most
-- Returns {id, when, details (JSON), id, ...}.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local found = redis.call('ZRANGE', KEYS[1], ARGV[2], '(' .. string.format('%.0f', now - ARGV[1]), 'BYSCORE', 'REV',
  'LIMIT', ARGV[3], ARGV[4], 'WITHSCORES')
local reply = {}
for at = 1, #found, 2 do
  reply[#reply + 1] = found[at]
  reply[#reply + 1] = found[at + 1]
  reply[#reply + 1] = redis.call('HGET', KEYS[2], found[at]) or ''
end
return reply
