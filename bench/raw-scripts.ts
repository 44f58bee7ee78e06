/** The floor of what a settle must do: two scripts, one row, one index, one publish. */
export const RAW_OPEN = `
redis.call('HSET', KEYS[1], 'status', 'pending', 'definition', ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], KEYS[1])
return 1`;

export const RAW_SETTLE = `
if redis.call('HGET', KEYS[1], 'status') ~= 'pending' then return 0 end
redis.call('HSET', KEYS[1], 'status', 'accepted', 'answer', ARGV[1])
redis.call('ZREM', KEYS[2], KEYS[1])
redis.call('PEXPIRE', KEYS[1], 86400000)
redis.call('PUBLISH', ARGV[2], KEYS[1] .. ' ' .. ARGV[1])
return 1`;
