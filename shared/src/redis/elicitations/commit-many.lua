-- requires: client/clock, feed/append, outbox/tasks, elicitations/step
-- Steps of several elicitations, each of which is compared with its own row.
-- ARGV: for each step the number of its keys, the number of its arguments, and its arguments. KEYS: those of all steps.
-- Returns the reply of each step. An error of Redis, as for a key of another type, ends the script after the steps before it.
local keys, args = KEYS, ARGV

local function slice(list, first, count)
  return { unpack(list, first, first + count - 1) }
end

local replies = {}
local nextKey, nextArg = 1, 1
while nextArg <= #args do
  local keyCount, argCount = tonumber(args[nextArg]), tonumber(args[nextArg + 1])
  replies[#replies + 1] = commitStep(slice(keys, nextKey, keyCount), slice(args, nextArg + 2, argCount))
  nextKey, nextArg = nextKey + keyCount, nextArg + 2 + argCount
end
return replies
