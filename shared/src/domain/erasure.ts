/** The reason of questions that an erasure withdrew. */
export const USER_ERASED = 'user_erased';

/** How much an erasure removed of one person, by kind. */
export interface ErasedCounts {
  /** Open questions that were withdrawn. `elicitations` includes them. */
  readonly withdrawn: number;
  /** Running turns that were stopped. `turns` includes them. */
  readonly stopped: number;
  readonly elicitations: number;
  /** Turns of agents, including their delegates'. */
  readonly turns: number;
  readonly conversations: number;
  /** Credentials of connected accounts. */
  readonly accounts: number;
  /** Sessions and unfinished flows of the hosted pages. */
  readonly pages: number;
}

/** The result of one erasing call. `complete` is true when nothing is left; otherwise, the same call again continues. */
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
