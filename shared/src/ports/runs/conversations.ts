import type { ConversationRef, Message } from '../../domain/runs/run.ts';

export interface LastTurn {
  readonly streamRequestId: string;
  /** True when its readers had left it, because it waited for its person. */
  readonly wasDetached: boolean;
}

export interface Conversation {
  /** The stream request of the turn that runs in it; nothing when none does. */
  readonly running?: string;
  /** The turn that ended last; its feed may have left by retention. */
  readonly last?: LastTurn;
  /** What was said, oldest first, as far back as the bound of a history allows. */
  readonly messages: readonly Message[];
}

/** What was said in conversations. Turns add to it when they end (`Runs.write`). */
export interface Conversations {
  /** A conversation of one person; an empty one when there is none of that id. */
  read(conversation: ConversationRef): Promise<Conversation>;
}
