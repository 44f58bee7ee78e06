-- requires: runs/usage
-- Removes entries of what the chats of one person use. ARGV: the entries.
local usage, ends = unpack(KEYS)
for _, entry in ipairs(ARGV) do removeEntry(usage, ends, entry) end
