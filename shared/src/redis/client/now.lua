-- requires: client/clock
-- Returns the clock (ms) of the server that has the key.
return (readClock())
