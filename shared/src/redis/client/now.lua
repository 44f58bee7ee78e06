-- requires: client/clock
-- Returns the clock (ms) of the server that holds the key.
return (readClock())
