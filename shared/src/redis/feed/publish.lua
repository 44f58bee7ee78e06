-- Publishes from the server that holds the slot of the channel's name. All events of a channel then take the same path
-- through a Cluster and keep their order; a plain PUBLISH may start at a different node each time.
local channel, message = KEYS[1], ARGV[1]
return redis.call('PUBLISH', channel, message)
