/**
 * Extends the SDK's Streamable HTTP transport where it would wait, leak or repeat ids. Sockets and limits are in
 * `http-fetch.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { CredentialRefused } from '../errors.ts';
import type { ResourceNotices } from '../resource-notices.ts';
import type { Door } from './door.ts';
import { connectionLost, type Exchanges, keepCreated } from './exchange.ts';
import { createHttpFetch } from './http-fetch.ts';
import { createPendingRequests } from './pending-requests.ts';
import { createReconnects } from './reconnects.ts';
import { createRequestIds } from './request-ids.ts';

interface HttpTransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Signs a proof for each request (DPoP). */
  readonly proofKey?: string | undefined;
  readonly messageBytesMax: number;
  readonly exchanges: Exchanges;
  readonly door: Door;
  /** Receives the state of the server's own event stream. */
  readonly notices: Pick<ResourceNotices, 'report' | 'lose'>;
}

/** Streamable HTTP with a method that ends the session. */
interface HttpTransport extends Transport {
  /** Ends the session at a server of the 2025 revision. Does nothing if there is none. */
  endSession(): Promise<void>;
  /** Resolves when the server has answered the request for its own event stream, or after a second. */
  listening(): Promise<void>;
}

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};
const LISTENING_MAX_MS = 1_000;

/**
 * The SDK's transport, with these additions. A request whose event stream ends without the reply fails at once, instead of at
 * the SDK's timeout. Ids of requests begin at a random number. The stream of a failed request is closed. `close` releases all
 * resources.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { url, headers, proofKey, messageBytesMax, exchanges, door, notices } = options;
  const bounds = { bytesMax: messageBytesMax };
  const { fetch, close } = createHttpFetch({
    origin: new URL(url).origin,
    bounds,
    exchanges,
    onChangesDropped: () => notices.report(),
    proofKey,
  });
  const reconnects = createReconnects();
  const own = createOwnStream(notices);
  const inner = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const isListening = init?.method === 'GET';
      try {
        const response = await fetch(input, init);
        if (isListening) own.heard(response, init);
        return response;
      } catch (error) {
        if (isListening) notices.lose();
        throw error instanceof CredentialRefused ? new CredentialRefused(door.refusal(error.refusal)) : error;
      } finally {
        if (isListening) own.onListening();
      }
    },
    requestInit: { headers },
    reconnectionScheduler: reconnects.schedule,
    reconnectionOptions: RECONNECTION,
  });
  const pending = createPendingRequests();
  const ids = createRequestIds();

  const outer: HttpTransport = {
    hasPerRequestStream: true,
    get sessionId() {
      return inner.sessionId;
    },
    start: () => inner.start(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    send: (counted, sendOptions) => {
      const message = ids.sent(counted);
      const exchange = exchanges.getStore();
      const options = sendOptions as Parameters<typeof inner.send>[1];
      if (exchange === undefined || !isJSONRPCRequest(message)) return inner.send(message, options);
      const { id } = message;
      pending.add(id, exchange);
      return inner.send(message, {
        ...options,
        requestSignal: options?.requestSignal ?? exchange.signal,
        onRequestStreamEnd: () => pending.take(id)?.fail(connectionLost()),
      });
    },
    endSession: () => inner.terminateSession(),
    listening: own.listening,
    close: async () => {
      reconnects.clear();
      await inner.close();
      close();
    },
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  inner.onmessage = (message: JSONRPCMessage) => {
    const received = door.message(ids.received(message));
    if ('id' in message && !('method' in message)) keepCreated(pending.take(message.id), received);
    outer.onmessage?.(received);
  };
  return outer;
}

/** The server's own event stream, on which it reports changes. */
function createOwnStream(notices: HttpTransportOptions['notices']) {
  let onListening: () => void = () => undefined;
  const listened = new Promise<void>((resolve) => {
    onListening = resolve;
  });
  let streams = 0;
  /** True if calls began before the first stream was open, so that reports may have been missed. */
  let isLate = false;
  return {
    /** Called when the stream has been requested, or could not be. */
    onListening: () => onListening(),
    /** Called when the stream begins or begins again. */
    heard({ ok, status }: Response, init: RequestInit): void {
      streams += 1;
      if (!ok) notices.lose(status === 405 ? 'absent' : undefined);
      else if ((streams > 1 || isLate) && !new Headers(init.headers).has('last-event-id')) notices.report();
    },
    async listening(): Promise<void> {
      await Promise.race([listened, sleep(LISTENING_MAX_MS, undefined, { ref: false })]);
      isLate ||= streams === 0;
    },
  };
}
