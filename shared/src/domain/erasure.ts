/** The reason with which an erasure withdraws questions. */
export const USER_ERASED = 'user_erased';

/** What an erasure removed of one person, by kind. */
export interface ErasedCounts {
  /** Open questions that were withdrawn; they are among `elicitations`. */
  readonly withdrawn: number;
  /** Running turns that were stopped; they are among `turns`. */
  readonly stopped: number;
  readonly elicitations: number;
  /** Turns of agents, with those of delegates. */
  readonly turns: number;
  readonly conversations: number;
  /** Credentials of connected accounts. */
  readonly accounts: number;
  /** Sessions and unfinished flows of the hosted pages. */
  readonly pages: number;
}

/** The result of one call that erases. `complete`: nothing is left; otherwise the same call continues. */
export interface Erased {
  readonly complete: boolean;
  readonly counts: ErasedCounts;
}

/** The counts of an erasure that found nothing. */
export const NOTHING_ERASED: ErasedCounts = {
  withdrawn: 0,
  stopped: 0,
  elicitations: 0,
  turns: 0,
  conversations: 0,
  accounts: 0,
  pages: 0,
};
