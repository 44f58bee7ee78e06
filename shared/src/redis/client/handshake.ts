import type { Socket } from 'node:net';

/**
 * The longest time, in ms, from opening a socket until Redis has answered the ready check: TCP, TLS, HELLO with AUTH, and INFO.
 * ioredis limits none of these once the connection is accepted.
 */
const HANDSHAKE_MS = 2_000;

/** Destroys a new socket whose handshake takes too long. Returns the function to call when the handshake is over. */
export function boundHandshake(socket: Socket): () => void {
  const timer = setTimeout(() => {
    socket.destroy(new Error(`Redis did not complete the handshake within ${HANDSHAKE_MS} ms.`));
  }, HANDSHAKE_MS);
  const clear = () => clearTimeout(timer);
  socket.once('close', clear);
  return clear;
}
