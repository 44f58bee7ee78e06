/**
 * The chat transport for `useChat`: the public calls, and what happens between two turns. Reading a single turn over lost
 * connections is in `turn.ts`.
 */

import {
  createTransport,
  isParleyClientError,
  parseElicitation,
  RETRY_DEFAULTS,
  type RetryOptions,
  resolveBaseUrl,
  type TokenSource,
} from '@parley/core';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { AttachableChat } from './attach.ts';
import { chatBody, isAnswer } from './body.ts';
import { createMessageKeys } from './keys.ts';
import { createPendingRequests } from './pending-requests.ts';
import { createChatRegistry } from './registry.ts';
import { chatExtras, chatHeaders, type HeaderSource } from './request.ts';
import { stopTurn } from './stop.ts';
import { beginTurn, CHAT_PATH, findTurn } from './turn.ts';

export interface ChatTransportOptions {
  /** The URL of Parley, including its path if it has one. In a browser it may be relative to the page. */
  readonly baseUrl: string;
  /** The person's token; a function is called for every request. */
  readonly token: TokenSource;
  /** Headers for every request. `x-supports-elicitation: true` is sent too, unless it is set here. */
  readonly headers?: HeaderSource | (() => HeaderSource);
  /** Additional keys for every message's body, such as `agent`. */
  readonly body?: object | (() => object);
  /**
   * What a turn does while it waits for a person. `hold` keeps its stream open. `detach` ends the stream with the question, and
   * `resumeStream()` continues after the answer. Without this, the server decides.
   */
  readonly delivery?: 'hold' | 'detach';
  /** The same as for the client, but `giveUpMs` (here 300000) is how long a turn may be unreachable before its stream fails. */
  readonly retry?: Pick<RetryOptions, 'giveUpMs' | 'firstDelayMs' | 'delayMsMax' | 'attemptMs'>;
  /** The time without data, heartbeats included, after which a connection counts as lost. @default 45000 */
  readonly heartbeatTimeoutMs?: number;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** A chat transport of the AI SDK whose streams survive the loss of the pods that serve them. */
export interface ParleyChatTransport<Message extends UIMessage = UIMessage> extends ChatTransport<Message> {
  /** A resumed turn is read from its start and replaces what the chat has of it. */
  readonly resumeStreamIsReplay: true;
  /**
   * Lets the transport make a chat read its turn again when the turn starts again. Without this, such a stream ends
   * with a ChatStreamError, `stream-reset`, and the application must call `resumeStream()`. Returns the function that
   * detaches the chat.
   *
   * @example
   * const [chat] = useState(() => new Chat({ id, transport }));
   * const { messages } = useChat({ chat });
   * useEffect(() => transport.attach(chat), [chat]);
   */
  attach(chat: AttachableChat): () => void;
  /**
   * Continues a turn whose stream ended with `finish` while it was waiting for approvals, after the last event that was read.
   * The new stream waits for the decisions. Resolves with null when there is nothing to read.
   */
  continueTurn(
    chatId: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<ReadableStream<UIMessageChunk> | null>;
  /**
   * Aborts a message that has no reply yet (its `sendMessages` rejects with an AbortError), and stops the running turn on the
   * server, which withdraws its open questions. Resolves with false when certainly neither existed. A chat's own `stop()` only
   * stops reading. Retries for half a minute, or until the chat sends its next message, and then rejects with
   * ParleyClientError.
   */
  stopTurn(chatId: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

const HEARTBEAT_TIMEOUT_MS = 45_000;
const GIVE_UP_MS = 300_000;
const JSON_TYPE = 'application/json';

/**
 * Creates a transport for `useChat` and `Chat` of the AI SDK, versions 6 and 7. A stream lasts as long as its turn:
 * after a lost connection or a restarted pod, it continues after the last complete event. A message is repeated until
 * it has certainly reached the server, and it counts once, even if the person then sends it again unchanged
 * (`regenerate`). A chat has one reader; a new one ends the previous one. Calls reject with ParleyClientError, and a
 * stream that breaks off fails with ChatStreamError. Errors of functions that you pass, and the reason of an aborted
 * signal, are passed on. No connection is opened before the first use.
 * connection until it is used.
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
  const transport = createTransport({ root: resolveBaseUrl(baseUrl), token, fetch: options.fetch, retry });
  const callsLeft = new Map<string, string>();
  const onCallsLeft = (chatId: string, lastEventId: string) => void callsLeft.set(chatId, lastEventId);
  const deps = { transport, heartbeatTimeoutMs, onCallsLeft };
  const registry = createChatRegistry();
  const pending = createPendingRequests();
  const keys = createMessageKeys();

  return {
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, messageId, abortSignal: signal, ...extras }) {
      const headers = chatHeaders(options, extras);
      const body = chatBody(chatId, messages, chatExtras(options, extras), messageId);
      if (isAnswer(messages)) {
        // An answer begins no turn, so the reply is the elicitation. Repeating an equal answer is safe.
        const call = { method: 'POST', path: CHAT_PATH, headers, body, signal } as const;
        parseElicitation(await transport.request({ ...call, headers: { ...headers, accept: JSON_TYPE } }));
        return new ReadableStream({ start: (controller) => controller.close() });
      }
      callsLeft.delete(chatId);
      const idempotencyKey = keys.keyOf(chatId, body);
      const source = { chatId, headers, message: { body, idempotencyKey } };
      const begin = (either: AbortSignal) => beginTurn(deps, source, either);
      const turn = await pending.send(chatId, signal, begin).catch((error: unknown) => {
        if (isParleyClientError(error, 'idempotency_mismatch')) keys.drop(chatId, idempotencyKey);
        throw error;
      });
      keys.drop(chatId, idempotencyKey);
      return registry.read(chatId, turn, signal);
    },
    async reconnectToStream({ chatId, abortSignal: signal, ...extras }) {
      const headers = chatHeaders(options, extras);
      const turn = registry.unreadTurn(chatId) ?? (await findTurn(deps, { chatId, headers }, signal));
      return turn === undefined ? null : registry.read(chatId, turn, signal);
    },
    async continueTurn(chatId, { signal } = {}) {
      const source = { chatId, headers: chatHeaders(options, {}), after: callsLeft.get(chatId) };
      callsLeft.delete(chatId);
      const turn = await findTurn(deps, source, signal);
      return turn === undefined ? null : registry.read(chatId, turn, signal);
    },
    attach: registry.attach,
    stopTurn(chatId, { signal } = {}) {
      // With the same key, the message would lead to the stopped turn if it is sent again.
      keys.drop(chatId);
      const requestStop = (retrySignal: AbortSignal) => stopTurn(transport, chatId, { signal, retrySignal });
      return pending.stop(chatId, signal, requestStop);
    },
  };
}
