-- Piece: keys, arguments and fields by their names. `client/script.ts` sends the names of both before the arguments.

-- The first values by name, and the place of the first one beyond. `names`: separated by blanks. To read another name is an error.
local function byName(values, names, first)
  local named, at = {}, first
  for name in string.gmatch(names, '%S+') do named[name], at = values[at], at + 1 end
  return setmetatable(named, { __index = function(_, name) error('the script got no value named ' .. name) end }), at
end

-- The keys and the arguments by name, and the places of the first key and the first argument beyond.
local function readNamed()
  local key, nextKey = byName(KEYS, ARGV[1], 1)
  local arg, nextArgument = byName(ARGV, ARGV[2], 3)
  return key, arg, nextKey, nextArgument
end

-- Fields of a hash by name; false for one that is absent.
local function readFields(key, names)
  local list = {}
  for name in string.gmatch(names, '%S+') do list[#list + 1] = name end
  return (byName(redis.call('HMGET', key, unpack(list)), names, 1))
end
