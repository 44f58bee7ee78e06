-- requires: runs/usage
-- Removes entries from the usage of one person's chats. ARGV: the entries.
local usage, ends = unpack(KEYS)
for _, entry in ipairs(ARGV) do removeEntry(usage, ends, entry) end
