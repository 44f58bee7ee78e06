/**
 * Statuses, actions and modes of an elicitation. The file imports nothing, which keeps browser bundles small. The
 * meaning of each status is in docs/http-api.md.
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

/** Which command finishes a url elicitation: `complete` with `server`, `accept` with `client`. */
export const COMPLETIONS = ['server', 'client'] as const;
export type Completion = (typeof COMPLETIONS)[number];

/** True for a status that never changes again. A status that this build does not know is one: a newer build ended the row. */
export function isTerminal(status: Status): status is TerminalStatus {
  return status !== 'pending' && status !== 'opened';
}
