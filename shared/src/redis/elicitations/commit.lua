-- requires: client/clock, feed/append, outbox/tasks, tenants/leaving, tenants/tell-change, elicitations/step
-- One atomic step of one elicitation. The piece elicitations/step describes keys, arguments and reply.
return commitStep(KEYS, ARGV)
