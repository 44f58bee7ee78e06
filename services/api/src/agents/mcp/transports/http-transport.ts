import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { createUnanswered } from '../calls/unanswered.ts';
import { answerLost, type Exchanges } from './exchange.ts';
import { createHttpFetch } from './http-fetch.ts';
import { createReconnects } from './reconnects.ts';

export interface HttpTransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly messageBytesMax: number;
  readonly exchanges: Exchanges;
}

/** Streamable HTTP, as this layer wants it. */
export interface HttpTransport extends Transport {
  /** Tells a server of the 2025 revision that its session is over; nothing when there is none. */
  endSession(): Promise<void>;
}

const RESUMES_MAX = 2;

/**
 * The SDK's transport with what it lacks: a request whose stream of events ends without the answer fails at once,
 * where the SDK would wait for its timeout; the stream of one that failed is closed; nothing is left after `close`.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { url, headers, messageBytesMax, exchanges } = options;
  const { fetch, close } = createHttpFetch({ origin: new URL(url).origin, messageBytesMax, exchanges });
  const reconnects = createReconnects();
  const inner = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers },
    reconnectionScheduler: reconnects.schedule,
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: RESUMES_MAX,
    },
  });
  const unanswered = createUnanswered();

  const outer: HttpTransport = {
    hasPerRequestStream: true,
    get sessionId() {
      return inner.sessionId;
    },
    start: () => inner.start(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    send: (message, sendOptions) => {
      const exchange = exchanges.getStore();
      const options = sendOptions as Parameters<typeof inner.send>[1];
      if (exchange === undefined || !isJSONRPCRequest(message)) return inner.send(message, options);
      const { id } = message;
      unanswered.add(id, exchange);
      return inner.send(message, {
        ...options,
        requestSignal: options?.requestSignal ?? exchange.signal,
        onRequestStreamEnd: () => unanswered.take(id)?.fail(answerLost()),
      });
    },
    endSession: () => inner.terminateSession(),
    close: async () => {
      reconnects.clear();
      await inner.close();
      close();
    },
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  inner.onmessage = (message: JSONRPCMessage) => {
    if ('id' in message && !('method' in message)) unanswered.take(message.id);
    outer.onmessage?.(message);
  };
  return outer;
}
