import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { type AttachableChat, readAgain } from './chat-attach.ts';
import { createParking } from './chat-parking.ts';
import { chatBody, chatHeaders, type HeaderSource, isAnswer } from './chat-request.ts';
import { streamOf, type Turn } from './chat-stream.ts';
import {
  beginTurn,
  type Connection,
  findTurn,
  pathOf,
  type TurnDeps,
  type TurnSource,
  tellTurn,
} from './chat-turn.ts';
import { RETRY_DEFAULTS, type RetryOptions } from './retry.ts';
import { isEventStream } from './sse.ts';
import { createTransport, type TokenSource, type Transport } from './transport.ts';

export interface ChatTransportOptions {
  /** Where Parley is, with a path if it lies below one. In a browser it may be relative to the page. */
  readonly baseUrl: string;
  /** The person's token; a function is called for every request. */
  readonly token: TokenSource;
  /** Sent with every request; `x-supports-elicitation: true` is, too, unless named here. */
  readonly headers?: HeaderSource | (() => HeaderSource);
  /** More keys of the body of every message, such as `agent`. */
  readonly body?: object | (() => object);
  /**
   * What a turn does while it waits for a person: `hold` keeps its stream open, `detach` lets it end with the question;
   * after the answer `resumeStream()` reads on. The server decides unless told.
   */
  readonly delivery?: 'hold' | 'detach';
  /** As of the client; `giveUpMs` (300000 here) is how long a turn may be out of reach before its stream fails. */
  readonly retry?: Pick<RetryOptions, 'giveUpMs' | 'firstDelayMs' | 'delayMsMax' | 'attemptMs'>;
  /** A connection that brings nothing for so long, not even a heartbeat, is given up. @default 45000 */
  readonly heartbeatTimeoutMs?: number;
  /** The global one unless given. */
  readonly fetch?: typeof fetch;
}

/** A chat transport of the AI SDK whose streams outlive the pods that serve them. */
export interface ParleyChatTransport<Message extends UIMessage = UIMessage> extends ChatTransport<Message> {
  /** A resumed turn is told from its start, and takes the place of what its chat has of it. */
  readonly resumeStreamIsReplay: true;
  /**
   * Lets a chat take back what it shows when a turn is told anew. Without it such a stream ends with a ChatStreamError,
   * `stream-reset`, and the chat's `resumeStream()` mends it. Returns how to let go of the chat.
   *
   * @example
   * const chat = useChat({ transport });
   * useEffect(() => transport.attach(chat), [chat.id]);
   */
  attach(chat: AttachableChat<Message>): () => void;
  /**
   * Stops the running turn on the server, on whichever pod; its open questions are withdrawn. False when none runs.
   * A chat's own `stop()` only ends the reading. Rejects with ParleyClientError.
   */
  stopTurn(chatId: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

const HEARTBEAT_TIMEOUT_MS = 45_000;
const GIVE_UP_MS = 300_000;

/**
 * Makes a transport for `useChat` and `Chat` of the AI SDK, version 6. One stream lasts as long as its turn: through
 * lost connections and restarted pods it goes on after the last event that was handed on. Errors are ParleyClientError,
 * those of a stream that broke off ChatStreamError. A message is never sent twice. Opens nothing until it is used.
 *
 * @example
 * const transport = createChatTransport({ baseUrl: 'https://parley.example.com', token: userToken });
 * const chat = new Chat({ transport });
 * transport.attach(chat);
 */
export function createChatTransport<Message extends UIMessage = UIMessage>(
  options: ChatTransportOptions,
): ParleyChatTransport<Message> {
  const retry = { ...RETRY_DEFAULTS, giveUpMs: GIVE_UP_MS, ...options.retry };
  const { baseUrl, token, heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS } = options;
  // Called as a plain function: a browser's fetch refuses to be a method of something else.
  const fetch: typeof globalThis.fetch = (input, init) => (options.fetch ?? globalThis.fetch)(input, init);
  const transport = createTransport({ baseUrl, token, fetch, retry });
  const deps = { transport, retry, heartbeatTimeoutMs };
  const chats = new Map<string, AttachableChat<Message>>();
  const parking = createParking();

  function read(chatId: string, turn: Turn, signal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    return streamOf(turn, signal, async (again, messageId) => {
      parking.put(chatId, again);
      const chat = chats.get(chatId);
      if (chat === undefined) return;
      await readAgain(chat, messageId).catch(() => undefined);
      parking.clear(chatId, again);
    });
  }

  return {
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, abortSignal, trigger, messageId, ...extras }) {
      const headers = chatHeaders(options, extras);
      const body = chatBody(options, extras, { id: chatId, messages, trigger, messageId });
      const call = { method: 'POST', path: '/run/api/chat', headers, body } as const;
      const answers = isAnswer(messages);
      const begun = await beginTurn(deps, call, answers, signalOf(abortSignal));
      if (answers && begun !== 'unsure' && !isEventStream(begun.response)) return answered(begun);
      parking.clear(chatId);
      const earlier = new Set(messages.map(({ id }) => id));
      return read(chatId, turnOf(deps, { chatId, headers, begun, earlier }), abortSignal);
    },
    async reconnectToStream({ chatId, abortSignal, ...extras }) {
      const parked = parking.take(chatId);
      if (parked !== undefined) return read(chatId, parked, abortSignal);
      const headers = chatHeaders(options, extras);
      const begun = await findTurn(deps, { chatId, headers }, signalOf(abortSignal));
      if (begun === undefined) return null;
      return read(chatId, turnOf(deps, { chatId, headers, begun }), abortSignal);
    },
    attach(chat) {
      chats.set(chat.id, chat);
      return () => {
        if (chats.get(chat.id) === chat) chats.delete(chat.id);
      };
    },
    stopTurn: (chatId, { signal } = {}) => stopTurn(transport, chatId, signal),
  };
}

function turnOf(deps: TurnDeps, source: TurnSource): Turn {
  const life = new AbortController();
  const told = tellTurn(deps, source, life.signal);
  return {
    told,
    end() {
      life.abort();
      // One that waits to be read on is not roused by the signal, and one that was never read has closed nothing.
      told.return().catch(() => undefined);
      if (source.begun !== 'unsure') source.begun.close();
    },
  };
}

async function stopTurn(
  transport: Transport,
  chatId: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const path = pathOf(chatId, 'stop');
  const reply = await transport.request({ method: 'POST', path, body: {}, signal });
  return (reply as { readonly stopped?: unknown } | null)?.stopped === true;
}

function signalOf(signal: AbortSignal | undefined): AbortSignal {
  return signal ?? new AbortController().signal;
}

/** The reply to an answer is the elicitation; no turn begins. */
function answered({ response }: Connection): ReadableStream<UIMessageChunk> {
  response.body?.cancel().catch(() => undefined);
  return new ReadableStream({ start: (controller) => controller.close() });
}
