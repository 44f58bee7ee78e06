import { createHash } from 'node:crypto';
import type { Action, ElicitationStatus, Owner, TerminalStatus } from './events.ts';

/** How a question can end, as far as one observer can tell; `content` undefined means "not shown". */
export type Outcome = {
  readonly status: ElicitationStatus;
  readonly content: string | undefined;
};

/** What an HTTP status says about a command: done, perhaps done, or certainly not done. */
export type Verdict = 'acked' | 'unknown' | 'refused';

export const EMPTY_CONTENT = '{}';

export const STATUS_OF_ACTION = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'cancelled',
} as const satisfies Record<Action, TerminalStatus>;

/** A timeout, a reset or a server fault may hide a change that was made; only a 4xx is a plain no. */
export function verdictOf(httpStatus: number): Verdict {
  if (httpStatus >= 200 && httpStatus < 300) return 'acked';
  return httpStatus >= 300 && httpStatus < 500 && httpStatus !== 408 ? 'refused' : 'unknown';
}

export function isTerminal(status: ElicitationStatus): status is TerminalStatus {
  return status !== 'pending' && status !== 'opened';
}

/** True when nothing that both sides show differs. */
export function agree(left: Outcome, right: Outcome): boolean {
  if (left.status !== right.status) return false;
  return left.content === undefined || right.content === undefined || left.content === right.content;
}

export function sameOwner(left: Owner, right: Owner): boolean {
  return left.tenant === right.tenant && left.userId === right.userId;
}

/** JSON with sorted keys, so that equal answers are equal strings. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).sort(byKey)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonical(member)}`);
  }
  return `{${members.join(',')}}`;
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}

/** A name for an outcome in a report. Reports are kept and shown, so an answer appears as a digest only. */
export function label({ status, content }: Outcome): string {
  if (content === undefined) return status;
  return `${status}#${createHash('sha256').update(content).digest('hex').slice(0, 8)}`;
}

/** Drops all but the first of each key; keeps a check linear when hundreds of replies say the same. */
export function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const first = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (!first.has(key)) first.set(key, item);
  }
  return [...first.values()];
}

export function outcomeKey({ status, content }: Outcome): string {
  return `${status} ${content ?? ''}`;
}
