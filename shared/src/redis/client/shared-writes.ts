import type { Writable } from 'node:stream';

/**
 * Combines everything that is written to a socket within one turn of the event loop into one write. A pod under load sends many
 * commands in a turn, and each write is a system call on both sides. No command waits for the reply to another one.
 */
export function shareWrites(socket: Writable): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isCorked = false;
  const send = () => {
    isCorked = false;
    socket.uncork();
  };
  socket.write = (...args: unknown[]) => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      setImmediate(send);
    }
    return write(...args);
  };
}
