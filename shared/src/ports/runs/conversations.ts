import type { ConversationRef, Message } from '../../domain/runs/run.ts';

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
  readonly messages: readonly Message[];
}

/** The histories of conversations. A turn adds to its history when it ends (`Runs.write`). */
export interface Conversations {
  /** A conversation of one person. An empty one when there is none with that id. */
  read(conversation: ConversationRef): Promise<Conversation>;
}
