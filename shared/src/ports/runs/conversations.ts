import type { Owner } from '@parley/core/domain/ids';
import type { ConversationRef, RememberedMessage } from '../../domain/runs/run.ts';

export interface LastTurn {
  readonly streamRequestId: string;
  /** True when the turn was detached before it ended; its readers had then ended earlier. */
  readonly wasDetached: boolean;
  /** The parent of the turn's spans (W3C Trace Context); absent when the turn was not traced. */
  readonly traceparent?: string;
}

export interface Conversation {
  /** The stream request of the running turn; absent when none runs. */
  readonly running?: string;
  /** The latest ended turn. The retention of its feed may have ended. */
  readonly last?: LastTurn;
  /** The history, oldest first, up to the configured number of messages. */
  readonly messages: readonly RememberedMessage[];
}

/** A conversation in a person's list. */
export interface ListedConversation {
  readonly conversationId: string;
  /** The title that the person chose, or the beginning of the first message; absent when that message had no text. */
  readonly title?: string;
  /** The agent of its latest turn. */
  readonly agent: string;
  /** When its latest turn began, in ms. */
  readonly at: number;
  readonly isRunning: boolean;
}

export interface ConversationPage {
  readonly conversations: readonly ListedConversation[];
  /** The cursor of the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/** How much of their quotas the chats of one person use. */
export interface ChatUse {
  /** The number of running turns. A turn whose pod was lost counts until another pod takes it over. */
  readonly turns: number;
  /** The model tokens used in the current day, which began with the first of them. */
  readonly tokens: number;
  readonly conversations: number;
  readonly storedBytes: number;
}

/** The histories of conversations. A turn adds to its history when it ends (`Runs.write`). */
export interface Conversations {
  /** Reads a conversation of one person; an unknown id gives an empty one. */
  read(conversation: ConversationRef): Promise<Conversation>;
  /**
   * The person's conversations, latest turn first, without those of delegates. A page has at most `limit` entries, and fewer
   * when some have expired.
   */
  list(owner: Owner, page: { readonly limit: number; readonly cursor?: string }): Promise<ConversationPage>;
  usage(owner: Owner): Promise<ChatUse>;
  /** Changes the title of a listed conversation. False when the list has none with that id. */
  rename(conversation: ConversationRef, title: string): Promise<boolean>;
}
