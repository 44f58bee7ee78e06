import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { isParleyClientError } from '../errors.ts';
import { elicitationIn } from '../reply.ts';
import { RETRY_DEFAULTS, type RetryOptions } from '../retry.ts';
import { createTransport, type TokenSource } from '../transport.ts';
import type { AttachableChat } from './attach.ts';
import { chatBody, isAnswer } from './body.ts';
import { createMessageKeys } from './keys.ts';
import { createOutgoing } from './outgoing.ts';
import { createChatRecords } from './records.ts';
import { chatExtras, chatHeaders, type HeaderSource } from './request.ts';
import { askToStop } from './stop.ts';
import { beginTurn, CHAT_PATH, findTurn } from './turn.ts';

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
  attach(chat: AttachableChat): () => void;
  /**
   * Takes back a message that has no answer yet, whose sending then rejects with an AbortError, and stops the running turn
   * on the server, on whichever pod; its open questions are withdrawn. False when it is known that there was neither.
   * A chat's own `stop()` only ends the reading. Tries for half a minute, and not once the chat sends its next message,
   * then rejects with ParleyClientError.
   */
  stopTurn(chatId: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

const HEARTBEAT_TIMEOUT_MS = 45_000;
const GIVE_UP_MS = 300_000;
const JSON_TYPE = 'application/json';

/**
 * Makes a transport for `useChat` and `Chat` of the AI SDK, version 6. One stream lasts as long as its turn: through
 * lost connections and restarted pods it goes on after the last event that was handed on. A message is sent again until
 * it is known to have arrived, and counts once, also when it is then sent again by hand as it is (`regenerate`). A chat
 * has one reader: reading it anew ends the reading before. Errors are ParleyClientError, those of a stream that broke off
 * ChatStreamError; what functions of yours throw, and the reason of an aborted signal, are passed on. Opens nothing until
 * it is used.
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
  const records = createChatRecords();
  const outgoing = createOutgoing();
  const keys = createMessageKeys();

  return {
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, abortSignal: signal, ...extras }) {
      const headers = chatHeaders(options, extras);
      const body = chatBody(chatId, messages, chatExtras(options, extras));
      if (isAnswer(messages)) {
        // No turn begins: the reply is the elicitation. An equal answer may be sent twice.
        const call = { method: 'POST', path: CHAT_PATH, headers, body, signal } as const;
        elicitationIn(await transport.request({ ...call, headers: { ...headers, accept: JSON_TYPE } }));
        return noChunks();
      }
      const idempotencyKey = keys.keyOf(chatId, body);
      const source = { chatId, headers, message: { body, idempotencyKey } };
      const begin = (either: AbortSignal) => beginTurn(deps, source, either);
      const turn = await outgoing.send(chatId, signal, begin).catch((error: unknown) => {
        if (isParleyClientError(error, 'idempotency_mismatch')) keys.forget(chatId, idempotencyKey);
        throw error;
      });
      keys.forget(chatId, idempotencyKey);
      return records.read(chatId, turn, signal);
    },
    async reconnectToStream({ chatId, abortSignal: signal, ...extras }) {
      const headers = chatHeaders(options, extras);
      const turn = records.waitingTurn(chatId) ?? (await findTurn(deps, { chatId, headers }, signal));
      return turn === undefined ? null : records.read(chatId, turn, signal);
    },
    attach: records.attach,
    stopTurn(chatId, { signal } = {}) {
      // With its key a message that is sent again would be told the turn that was stopped.
      keys.forget(chatId);
      return outgoing.stop(chatId, signal, (tries) => askToStop(transport, chatId, { signal, tries }));
    },
  };
}

function noChunks(): ReadableStream<UIMessageChunk> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
