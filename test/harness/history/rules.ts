import type { Dossier } from './dossier.ts';
import type { IndexedHistory } from './index-history.ts';

/** What must hold in every run; one number each, never reused. */
export const INVARIANTS = [
  'I1',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'I7',
  'I8',
  'I9',
  'I10',
  'I11',
  'I12',
  'I13',
  'I14',
  'I15',
  'I16',
] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** A resource may grow to this many times what it was before the run. */
export type ResourceFactors = {
  readonly liveBytes: number;
  readonly handles: number;
  readonly sockets: number;
};

/** What counts as late, early or too much. Milliseconds throughout. */
export type Limits = {
  /** How long past its own bound a waiter may return. */
  readonly graceMs: number;
  /** How far clocks may disagree before an expiry counts as early. */
  readonly toleranceMs: number;
  /** Set when feeds also carry events that `/v1/streams` does not show, so that sequence numbers may skip. */
  readonly sparseFeeds: boolean;
  readonly resourceFactors: ResourceFactors;
};

export type Finding = {
  readonly elicitationId?: string | undefined;
  readonly message: string;
};

/** A rule about one elicitation; yields one message per breach. */
export type DossierRule = (dossier: Dossier, limits: Limits) => Iterable<string>;

/** A rule about the run as a whole. */
export type HistoryRule = (history: IndexedHistory, limits: Limits) => Iterable<Finding>;
