/**
 * The words of an elicitation's life, free of any library so that a browser bundle can carry them.
 * See docs/architecture.md for what each status means.
 */

/** Every status, in the order of a life. The last five are terminal. */
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
export type OpenStatus = (typeof OPEN_STATUSES)[number];
export type TerminalStatus = Exclude<Status, OpenStatus>;

/** What a person can do with a question. */
export const ACTIONS = ['accept', 'decline', 'cancel'] as const;
export type Action = (typeof ACTIONS)[number];

export const MODES = ['form', 'url'] as const;
export type Mode = (typeof MODES)[number];

/** Who finishes a url elicitation: `server` waits for `complete`, `client` is finished by accept. */
export const COMPLETIONS = ['server', 'client'] as const;
export type Completion = (typeof COMPLETIONS)[number];

/** True once nothing can change any more. */
export function isTerminal(status: Status): status is TerminalStatus {
  return status !== 'pending' && status !== 'opened';
}
