-- requires: client/clock
-- Reads a record of an owner, which is then kept for at least `life` ms. The keys are those of records/put.lua. A
-- renewal adds an extra tenth, so that few reads write. Returns the value; false if there is no record.
local record, names = KEYS[1], KEYS[2]
local name, life = ARGV[1], tonumber(ARGV[2])
local value = redis.call('GET', record)
if not value or redis.call('PTTL', record) >= life then return value end
life = math.floor(life * 1.1)
redis.call('PEXPIRE', record, life)
redis.call('ZADD', names, readClock() + life, name)
if redis.call('PTTL', names) < life then redis.call('PEXPIRE', names, life) end
return value
