-- Gives a conversation in the list of its person another title.
-- Returns 1, or 0 where the list has no such conversation.
local conversation, conversations = unpack(KEYS)
local conversationId, title = unpack(ARGV)
if redis.call('EXISTS', conversation) == 0 or not redis.call('ZSCORE', conversations, conversationId) then return 0 end
redis.call('HSET', conversation, 'title', title)
return 1
