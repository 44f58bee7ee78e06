import type { Connection } from '../server/type.ts';
import type { ApprovalStrings } from './approval.ts';
import { ageIn, momentIn, numberIn, pluralIn } from './time.ts';
import type { Strings } from './type.ts';

/** The texts that only the inbox needs. All are plain text, and a page may override each. Durations are in ms. */
export interface InboxStrings {
  readonly inboxTitle: string;
  /** The text of the chip: `1 waiting`. */
  readonly waiting: (count: number) => string;
  /** The chip's accessible name. */
  readonly waitingLong: (count: number) => string;
  readonly inboxEmpty: string;
  readonly connection: (state: Connection) => string;
  /** An age: `3 minutes ago`. */
  readonly age: (ageMs: number) => string;
  readonly until: (deadline: Date) => string;
}

/** All texts of a language: those of the cards and of the inbox. */
export type AllStrings = Strings & InboxStrings & ApprovalStrings;

const EN = 'en';

export const ENGLISH_INBOX: InboxStrings = {
  inboxTitle: 'Waiting for you',
  waiting: (amount) => `${numberIn(EN, amount)} waiting`,
  waitingLong: (amount) =>
    `${numberIn(EN, amount)} ${pluralIn(EN, amount, 'question is', 'questions are')} waiting for you`,
  inboxEmpty: 'Nothing is waiting for you.',
  connection: (state) =>
    ({
      connecting: 'Connecting …',
      live: 'Up to date',
      polling: 'Checking every few seconds',
      offline: 'No connection; trying again',
    })[state],
  age: (ageMs) => (ageMs < 60_000 ? 'just now' : ageIn(EN, ageMs)),
  until: (deadline) => `until ${momentIn(EN, deadline)}`,
};
