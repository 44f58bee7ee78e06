import type { ElicitationCase } from '../elicitation-case.ts';
import type { WaitEvent } from '../events.ts';
import { isTerminal, label } from '../outcome.ts';
import type { Limits } from '../rule.ts';

// Comparisons are written as "unless it is right", so that a missing or unreadable stamp (NaN) counts as a breach.

/** I6: a waiter gets a reply, by its own bound plus the grace. */
export function* everyWaitReturns({ waits }: ElicitationCase, { graceMs }: Limits): Generator<string> {
  for (const { outcome, startedAt, at, deadlineMs } of waits) {
    if (outcome === 'none') yield `the wait of ${startedAt} never got a reply`;
    const took = at - startedAt;
    if (!(took <= deadlineMs + graceMs))
      yield `the wait of ${startedAt} took ${took} ms, bound ${deadlineMs} ms`;
  }
}

/** I7: nothing is expired before its deadline, by the server's stamps and by the time that really passed. */
export function* neverEarly(record: ElicitationCase, { toleranceMs }: Limits): Generator<string> {
  const { ask, askedFrom, expiresAt, finals, views } = record;
  if (expiresAt === undefined) return;
  for (const { status, settledAt = Number.NaN } of finals) {
    if (status === 'expired' && !(settledAt >= expiresAt))
      yield `expired at ${settledAt}, deadline ${expiresAt}`;
  }
  const lifetime = expiresAt - (ask?.createdAt ?? Number.NaN);
  for (const { status, source, at, serverTime } of views) {
    if (status !== 'expired') continue;
    if (serverTime !== undefined && !(serverTime >= expiresAt - toleranceMs)) {
      yield `${source} showed expired at server time ${serverTime}, deadline ${expiresAt}`;
    }
    // A duration holds whatever the clocks show; it also judges replies without a server time.
    if (askedFrom !== undefined && at - askedFrom < lifetime - toleranceMs) {
      yield `${source} showed expired ${at - askedFrom} ms after it was asked for ${lifetime} ms`;
    }
  }
}

/** I8: no command settles anything past the deadline. */
export function* neverLate({ finals, expiresAt }: ElicitationCase): Generator<string> {
  for (const { status, settledAt = Number.NaN, expiresAt: shown } of finals) {
    if (!isTerminal(status) || status === 'expired') continue;
    const deadline = expiresAt ?? shown;
    if (!(settledAt <= deadline)) yield `${status} at ${settledAt}, deadline ${deadline}`;
  }
}

/** I9: what one client knows, a later read by any client no longer denies. */
export function* neverBack(record: ElicitationCase, { graceMs }: Limits): Generator<string> {
  const { settledBy, openedBy } = knownBy(record);
  for (const view of record.views) {
    if (isTerminal(view.status) || view.startedAt === undefined) continue;
    const known = view.status === 'pending' ? Math.min(settledBy, openedBy) : settledBy;
    if (view.startedAt > known) {
      yield `${view.source} of ${view.startedAt} shows ${label(view)}, though more was known at ${known}`;
    }
  }
  for (const wait of record.waits) {
    if (sleptThrough(wait, settledBy, graceMs)) {
      yield `the wait of ${wait.startedAt} slept ${wait.timeoutMs} ms, though it was settled by ${settledBy}`;
    }
  }
}

/** When some client first knew that the elicitation was settled, and that it was opened. */
function knownBy({ claims, views }: ElicitationCase): {
  readonly settledBy: number;
  readonly openedBy: number;
} {
  const acked = claims.filter(({ verdict }) => verdict === 'acked');
  const settled = [
    ...acked.filter(({ role }) => role === 'settles').map(({ event }) => event),
    ...views.filter(({ status }) => isTerminal(status)),
  ];
  const opened = [
    ...acked.filter(({ role }) => role === 'consents').map(({ event }) => event),
    ...views.filter(({ status }) => status === 'opened'),
  ];
  return { settledBy: earliest(settled), openedBy: earliest(opened) };
}

function earliest(moments: readonly { readonly at: number }[]): number {
  return moments.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
}

/** The server reads once more when the time is up, so what was settled well before that must show. */
function sleptThrough({ outcome, startedAt, at, timeoutMs }: WaitEvent, settledBy: number, graceMs: number) {
  if (outcome !== 'pending' && outcome !== 'opened') return false;
  if (timeoutMs === undefined || at - startedAt < timeoutMs || startedAt > settledBy) return false;
  return settledBy < startedAt + timeoutMs - graceMs;
}
