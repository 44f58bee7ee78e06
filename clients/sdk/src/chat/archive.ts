/** Reads and changes a person's earlier conversations over HTTP. A running turn is followed by the transport, not here. */

import {
  createTransport,
  ParleyClientError,
  pathSegment,
  RETRY_DEFAULTS,
  resolveBaseUrl,
} from '@parley/core';
import type { UIMessage } from 'ai';
import type { ChatTransportOptions } from './transport.ts';
import { CHAT_PATH } from './turn.ts';

const CHATS_PATH = '/run/api/chats';

/** A conversation of a person. */
export interface ChatSummary {
  readonly conversationId: string;
  /** The title that the person chose, or the beginning of their first message. */
  readonly title?: string;
  /** The agent of its latest turn. */
  readonly agent: string;
  /** When its latest turn began (ISO 8601). */
  readonly latestTurnAt: string;
  readonly isRunning: boolean;
}

/** Conversations, latest turn first. `nextCursor` is the cursor of the next page. */
export interface ChatPage {
  readonly conversations: readonly ChatSummary[];
  readonly nextCursor?: string;
}

/** The messages of a conversation, oldest first. While a turn is running, the last one is the person's. */
export interface ChatHistory {
  readonly conversationId: string;
  readonly messages: readonly UIMessage[];
  readonly isRunning: boolean;
}

export interface ChatListOptions {
  /** The number of conversations in a page, 1 to 100. @default 50 */
  readonly limit?: number;
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

/** The conversations of the token's owner. Calls reject with ParleyClientError. */
export interface ChatArchive {
  list(options?: ChatListOptions): Promise<ChatPage>;
  /** Reads a conversation. Errors: `not_found` for a conversation without a turn. */
  read(chatId: string, options?: { readonly signal?: AbortSignal }): Promise<ChatHistory>;
  /** Changes the title of a conversation, and returns it as stored. Errors: `not_found`, `invalid_request`. */
  rename(chatId: string, title: string, options?: { readonly signal?: AbortSignal }): Promise<string>;
  /**
   * Deletes a conversation with all its turns, questions and approvals; running turns are stopped. Errors: `not_found`,
   * `turn_running`.
   */
  remove(chatId: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Creates the archive of a person's conversations.
 *
 * @example
 * const archive = createChatArchive({ baseUrl: 'https://parley.example.com', token: userToken });
 * const { messages } = await archive.read(chatId);
 */
export function createChatArchive(
  options: Pick<ChatTransportOptions, 'baseUrl' | 'token' | 'fetch' | 'retry'>,
): ChatArchive {
  const { baseUrl, token } = options;
  const retry = { ...RETRY_DEFAULTS, ...options.retry };
  const transport = createTransport({ root: resolveBaseUrl(baseUrl), token, fetch: options.fetch, retry });
  return {
    async list({ limit, cursor, signal } = {}) {
      const query = { limit: limit === undefined ? undefined : String(limit), cursor };
      const reply = await transport.request({ method: 'GET', path: CHATS_PATH, query, signal });
      return checked<ChatPage>(reply, 'conversations');
    },
    async read(chatId, { signal } = {}) {
      const path = `${CHAT_PATH}/${pathSegment(chatId)}/messages`;
      return checked<ChatHistory>(await transport.request({ method: 'GET', path, signal }), 'messages');
    },
    async rename(chatId, title, { signal } = {}) {
      const call = {
        method: 'PATCH',
        path: `${CHATS_PATH}/${pathSegment(chatId)}`,
        body: { title },
        signal,
      } as const;
      return ((await transport.request(call)) as { readonly title: string }).title;
    },
    async remove(chatId, { signal } = {}) {
      await transport.request({ method: 'DELETE', path: `${CHATS_PATH}/${pathSegment(chatId)}`, signal });
    },
  };
}

function checked<Reply>(reply: unknown, list: keyof Reply & string): Reply {
  if (typeof reply === 'object' && reply !== null && Array.isArray(Reflect.get(reply, list)))
    return reply as Reply;
  throw new ParleyClientError('internal', 'The reply does not come from Parley; check baseUrl.');
}
