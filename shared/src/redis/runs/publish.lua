-- requires: feed/append
-- Publishes text of a run that its feed does not hold yet, for those who follow it now. Changes nothing.
--
-- writerSeq: number of the event that the text follows. A late copy of the command follows an earlier one.
-- Returns 'written', 'stopping', 'fenced' or 'gone'.
local run = KEYS[1]
local term, writerSeq, channel, wakeJson = unpack(ARGV)
local status, currentTerm, lastSeq, position, stop =
  unpack(redis.call('HMGET', run, 'status', 'term', 'writerSeq', 'position', 'stop'))
if not status then return 'gone' end
if status ~= 'running' or currentTerm ~= term then return 'fenced' end
-- The time of a wake is that of a commit, and there is none.
if position and lastSeq == writerSeq then publishWake(position, '0', wakeJson, channel) end
return stop and 'stopping' or 'written'
