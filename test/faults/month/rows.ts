import type { Client } from './client.ts';
import type { LeapingClock } from './clock.ts';
import type { Stage } from './stage.ts';
import { ACCOUNT_STORIES } from './stories/accounts.ts';
import { CHAT_STORIES } from './stories/chat.ts';
import { QUESTION_STORIES } from './stories/questions.ts';
import { SERVICE_STORIES } from './stories/services.ts';
import { SLACK_STORIES } from './stories/slack.ts';
import { TOKEN_STORIES } from './stories/tokens.ts';

/** What a story plays on. */
export interface World {
  readonly stage: Stage;
  readonly client: Client;
  readonly clock: LeapingClock;
}

/** A duration that the documentation promises, and what shows that it holds. */
export interface Row {
  readonly name: string;
  /** Where it is promised. */
  readonly documented: string;
  /** How much later than promised it may be, in words or as documented. */
  readonly lateness: string;
  /** True: part of every run, else of a soak only. */
  readonly isDaily?: true;
  /** Provokes it; throws when the promise does not hold, and returns what was seen. */
  readonly story: (world: World) => Promise<string>;
}

/** What a row came to, as the program prints it. */
export interface Result {
  readonly row: string;
  readonly seen?: string;
  readonly fault?: string;
}

const ROWS: readonly Row[] = [
  ...QUESTION_STORIES,
  ...CHAT_STORIES,
  ...ACCOUNT_STORIES,
  ...SERVICE_STORIES,
  ...SLACK_STORIES,
  ...TOKEN_STORIES,
];

/** The rows of a run: all in a soak. */
export function rowsOf(isSoak: boolean): readonly Row[] {
  return isSoak ? ROWS : ROWS.filter(({ isDaily }) => isDaily);
}
