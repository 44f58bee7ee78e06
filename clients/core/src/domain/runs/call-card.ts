/** The state of an MCP call as its server reports it to the card of the call. Both sides use these types. */

/** `unknown`: no such call is running, or its result was already fetched. */
export const CARD_STATUSES = ['working', 'waiting', 'ended', 'unknown'] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** What the user decides elsewhere, in one line, with the address of its page if there is one. */
export interface ElsewhereLine {
  readonly id: string;
  readonly text: string;
  readonly url?: string;
}

/** The progress of a call. The texts come from servers, are single lines, and are safe to show. */
export interface CardProgress {
  /** The tool that was used last. */
  readonly tool?: string;
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
}
