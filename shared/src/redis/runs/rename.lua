-- Changes the title of a conversation in its person's list. Returns 1, or 0 if the list has no such conversation.
local conversation, conversations = unpack(KEYS)
local conversationId, title = unpack(ARGV)
if redis.call('EXISTS', conversation) == 0 or not redis.call('ZSCORE', conversations, conversationId) then return 0 end
redis.call('HSET', conversation, 'title', title)
return 1
