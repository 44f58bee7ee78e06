import type { ElicitationCase } from './elicitation-case.ts';
import type { IndexedHistory } from './index-history.ts';
import type { RunCase } from './run-case.ts';

/** What counts as late, early or too much. Milliseconds throughout. */
export type Limits = {
  /** How long past its own bound a waiter may return. */
  readonly graceMs: number;
  /** How far clocks may disagree before an expiry counts as early. */
  readonly toleranceMs: number;
  /** Set when feeds also carry events that `/v1/streams` does not show, so that sequence numbers may skip. */
  readonly sparseFeeds: boolean;
  /** A resource may grow to this many times what it was before. */
  readonly resourceFactors: Readonly<Record<'liveBytes' | 'handles' | 'sockets', number>>;
};

/** One breach; `subject` is the elicitation or the conversation that it is about. */
export type Breach = { readonly subject?: string | undefined; readonly message: string };

/** The checks of one rule, by what they judge. A check of a case record yields one message per breach. */
export type Rule = {
  readonly statement: string;
  readonly perElicitation?: readonly ((record: ElicitationCase, limits: Limits) => Iterable<string>)[];
  readonly perRun?: readonly ((record: RunCase) => Iterable<string>)[];
  readonly overall?: readonly ((history: IndexedHistory, limits: Limits) => Iterable<Breach>)[];
};
