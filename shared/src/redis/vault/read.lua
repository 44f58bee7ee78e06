-- requires: client/clock
-- Reads a credential and the clock together. Returns {sealed, version, state, saved at, now}; times are in ms.
local credential = KEYS[1]
local reply = redis.call('HMGET', credential, 'sealed', 'version', 'state', 'savedAt')
reply[5] = readClock()
return reply
