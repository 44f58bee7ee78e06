-- requires: client/clock, feed/append, outbox/tasks, tenants/leaving, tenants/tell-change, elicitations/step
-- Steps of several elicitations, each of which succeeds or fails independently. ARGV: for each step the number of its
-- keys, the number of its arguments, and its arguments. KEYS: the keys of all steps. Returns the reply of each step;
-- {-3, message} for a step that ended with a Redis error, for example for a key of another type.
local keys, args = KEYS, ARGV

local function slice(list, first, count)
  return { unpack(list, first, first + count - 1) }
end

local replies = {}
local nextKey, nextArg = 1, 1
while nextArg <= #args do
  local keyCount, argCount = tonumber(args[nextArg]), tonumber(args[nextArg + 1])
  local isDone, reply = pcall(commitStep, slice(keys, nextKey, keyCount), slice(args, nextArg + 2, argCount))
  if not isDone then
    local message = type(reply) == 'table' and reply.err or tostring(reply)
    -- A server that has become a replica refuses all steps. ioredis leaves the server only if the whole reply is this error.
    if string.find(message, '^READONLY') then return redis.error_reply(message) end
    reply = { -3, message }
  end
  replies[#replies + 1] = reply
  nextKey, nextArg = nextKey + keyCount, nextArg + 2 + argCount
end
return replies
