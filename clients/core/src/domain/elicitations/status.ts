/**
 * The statuses, actions and modes of an elicitation. This file imports nothing, which keeps browser bundles small.
 * docs/http-api.md explains each status.
 */

/** Every status. The last five are terminal. */
export const STATUSES = [
  'pending',
  'opened',
  'accepted',
  'declined',
  'cancelled',
  'expired',
  'withdrawn',
] as const;
export type Status = (typeof STATUSES)[number];

export const OPEN_STATUSES = ['pending', 'opened'] as const satisfies readonly Status[];
type OpenStatus = (typeof OPEN_STATUSES)[number];
export type TerminalStatus = Exclude<Status, OpenStatus>;

/** What a person can do with a question. */
export const ACTIONS = ['accept', 'decline', 'cancel'] as const;
export type Action = (typeof ACTIONS)[number];

export const MODES = ['form', 'url'] as const;
export type Mode = (typeof MODES)[number];

/** Which command finishes a url elicitation: `complete` for `server`, `accept` for `client`. */
export const COMPLETIONS = ['server', 'client'] as const;
export type Completion = (typeof COMPLETIONS)[number];

/** True for a terminal status. An unknown status is terminal too, because only a newer build can have ended the row with it. */
export function isTerminal(status: Status): status is TerminalStatus {
  return status !== 'pending' && status !== 'opened';
}
