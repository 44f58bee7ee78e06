-- Publishes from the server that holds the slot of the channel's name, so that the events of a topic keep their
-- order on a Cluster, where a plain PUBLISH may take another way each time.
-- KEYS 1 channel   ARGV 1 message
return redis.call('PUBLISH', KEYS[1], ARGV[1])
