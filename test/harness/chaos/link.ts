import { connect, type Socket } from 'node:net';
import { createLostAckWatch, type Trap } from '../http/lost-ack.ts';
import { createLane } from './lane.ts';

/** Which bytes vanish: requests (`toServer`), replies (`toClient`), or both. */
export type Direction = 'both' | 'toClient' | 'toServer';

/** One client connection and its counterpart at Redis. */
export type Link = {
  /** Whether the client is still connected, as far as the proxy knows. */
  isOpen(): boolean;
  stall(on: boolean): void;
  /** Makes the connection half-open for good: see `wasHoled`. */
  hole(direction: Direction): void;
  /** Whether bytes may have been lost; such a connection must never carry bytes again. */
  wasHoled(): boolean;
  /** RST to both ends. */
  reset(): void;
};

export type LinkOptions = {
  client: Socket;
  targetPort: number;
  delayMs: () => number;
  armedTrap: () => Trap | undefined;
  /** Called with what the client sends, before any of it is passed on. */
  beforeRequest: (chunk: Buffer) => void;
  /** When both ends are closed. */
  onGone: () => void;
};

/** Joins `client` with a new connection to Redis. When Redis refuses it, the client is reset. */
export function createLink(options: LinkOptions): Link {
  const { client, targetPort, delayMs, armedTrap, beforeRequest: beforeChunk, onGone } = options;
  const server = connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  client.setNoDelay(true);
  let holed = false;
  const replies = createLane({ from: server, to: client, delayMs });
  const watch = createLostAckWatch(armedTrap, () => {
    holed = true;
    replies.drop();
  });
  const cutBehind = (chunk: Buffer) => {
    const sprung = watch.feed(chunk);
    if (!sprung || server.writableEnded) return;
    // Redis reads all it was sent before it sees the end and hangs up: by then the request has run.
    server.end();
    server.once('close', () => {
      client.resetAndDestroy();
      sprung.finish(true);
    });
  };
  const requests = createLane({ from: client, to: server, delayMs, beforeChunk, onChunk: cutBehind });
  for (const [end, other] of [
    [client, server],
    [server, client],
  ] as const) {
    end.once('close', () => other.closed && onGone());
  }
  return {
    isOpen: () => !client.destroyed && !client.readableEnded,
    stall(on) {
      requests.stall(on);
      replies.stall(on);
    },
    hole(direction) {
      holed = true;
      if (direction !== 'toClient') requests.drop();
      if (direction !== 'toServer') replies.drop();
    },
    wasHoled: () => holed,
    reset() {
      client.resetAndDestroy();
      server.resetAndDestroy();
    },
  };
}
