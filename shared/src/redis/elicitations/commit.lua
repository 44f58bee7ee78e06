-- requires: client/clock, feed/append, outbox/tasks, tenants/leaving, tenants/tell-change, elicitations/step
-- One atomic step of one elicitation. Keys, arguments and reply are those of the piece.
return commitStep(KEYS, ARGV)
