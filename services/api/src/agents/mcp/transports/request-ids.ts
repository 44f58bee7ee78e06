import { randomInt } from 'node:crypto';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** The ids of the requests of one connection. The SDK counts them from 0; the server sees them counted from a random number. */
interface RequestIds {
  /** Converts a message for the server. */
  sent<Message extends JSONRPCMessage>(message: Message): Message;
  /** Converts a message of the server for the SDK. */
  received(message: JSONRPCMessage): JSONRPCMessage;
}

// Servers may read ids as signed 32-bit integers.
const FIRST_MAX = 2 ** 30;

/**
 * Makes the ids of a connection. The rounds of a call may come from several pods, and none may reuse the id of another (MCP
 * 2026-07-28, multi round-trip requests).
 */
export function createRequestIds(first = randomInt(FIRST_MAX)): RequestIds {
  const shifted = (id: unknown, by: number) => (typeof id === 'number' ? id + by : id);

  return {
    sent(message) {
      if (!('method' in message)) return message;
      if ('id' in message) return { ...message, id: shifted(message.id, first) } as typeof message;
      if (message.method !== 'notifications/cancelled') return message;
      const { params } = message;
      return { ...message, params: { ...params, requestId: shifted(params?.requestId, first) } };
    },
    received(message) {
      if ('method' in message || message.id === undefined) return message;
      return { ...message, id: shifted(message.id, -first) } as JSONRPCMessage;
    },
  };
}
