-- requires: feed/append
-- Publishes text of a run that is not in its feed yet, for live readers. Changes nothing.
--
-- writerSeq: number of the event that precedes the text. The check drops a late copy of the command. Returns 'written',
-- 'stopping', 'fenced' or 'gone'.
local run = KEYS[1]
local term, writerSeq, channel, wakeJson = unpack(ARGV)
local status, currentTerm, lastSeq, position, stop =
  unpack(redis.call('HMGET', run, 'status', 'term', 'writerSeq', 'position', 'stop'))
if not status then return 'gone' end
if status ~= 'running' or currentTerm ~= term then return 'fenced' end
-- The time in a wake is that of a commit; without a commit it is 0.
if position and lastSeq == writerSeq then publishWake(position, '0', wakeJson, channel) end
return stop and 'stopping' or 'written'
