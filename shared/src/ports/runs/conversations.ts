import type { Owner } from '@parley/core/domain/ids';
import type { ConversationRef, RememberedMessage } from '../../domain/runs/run.ts';

export interface LastTurn {
  readonly streamRequestId: string;
  /** True when the turn was detached, so that its readers had ended before it did. */
  readonly wasDetached: boolean;
  /** The parent of the turn's spans; absent when it was not traced. */
  readonly traceparent?: string;
}

export interface Conversation {
  /** The stream request of the turn that runs in it; absent when none does. */
  readonly running?: string;
  /** The turn that ended last; the retention of its feed may have ended. */
  readonly last?: LastTurn;
  /** The history, oldest first, up to the limit of messages. */
  readonly messages: readonly RememberedMessage[];
}

/** A conversation in the list of its person. */
export interface ListedConversation {
  readonly conversationId: string;
  /** The title that its person gave it, or the beginning of its first message; absent when that had no text. */
  readonly title?: string;
  /** The agent of its latest turn. */
  readonly agent: string;
  /** When its latest turn began, in ms. */
  readonly at: number;
  readonly isRunning: boolean;
}

export interface ConversationPage {
  readonly conversations: readonly ListedConversation[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

/** What the chats of one person use of their quotas. */
export interface ChatUse {
  /** Turns that run. One whose pod was lost counts until it is taken over. */
  readonly turns: number;
  /** Tokens of models in the day that began with the first of them. */
  readonly tokens: number;
  readonly conversations: number;
  readonly storedBytes: number;
}

/** The histories of conversations. A turn adds to its history when it ends (`Runs.write`). */
export interface Conversations {
  /** A conversation of one person. An empty one when there is none with that id. */
  read(conversation: ConversationRef): Promise<Conversation>;
  /**
   * The person's conversations, the one with the latest turn first. `limit` is the length of a page; a page may be shorter
   * where conversations have expired. Those of delegates are left out.
   */
  list(owner: Owner, page: { readonly limit: number; readonly cursor?: string }): Promise<ConversationPage>;
  usage(owner: Owner): Promise<ChatUse>;
  /** Gives a conversation of the list another title. False where the list has none with that id. */
  rename(conversation: ConversationRef, title: string): Promise<boolean>;
}
