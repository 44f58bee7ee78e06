-- Gives a name to the first claimant. A repeated claim with the same value renews the claim. Returns the value that holds the
-- name.
local claim = KEYS[1]
local value, life = unpack(ARGV)
local holder = redis.call('SET', claim, value, 'NX', 'GET', 'PX', life)
if not holder then return value end
if holder == value then redis.call('PEXPIRE', claim, life, 'GT') end
return holder
