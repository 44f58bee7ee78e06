/** What the card of an MCP call is told about it by the server: both sides name it by these types. */

/** `unknown`: no such call is under way, or its result was fetched. */
export const CARD_STATUSES = ['working', 'waiting', 'ended', 'unknown'] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** What the user decides in another place, in one line; with the address of its page where there is one. */
export interface ElsewhereLine {
  readonly id: string;
  readonly text: string;
  readonly url?: string;
}

/** How far a call has come. The texts are those of servers, in one line each, and safe to show. */
export interface CardProgress {
  /** The tool that was used last. */
  readonly tool?: string;
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
}
