import type { Definition, Row } from '../domain/elicitations/row.ts';
import { isTerminal, type Status } from '../domain/elicitations/status.ts';
import type { ElicitationWake } from '../domain/elicitations/wake.ts';
import { ParleyError } from '../domain/errors.ts';
import type { StreamRef } from '../domain/ids.ts';
import type { WakeSource } from '../ports/elicitations/observer.ts';
import { type Caller, maySee, notFound, readFor, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { expire } from './expire.ts';
import { ifAvailable, SleeperReads } from './retry-while-unavailable.ts';
import { WakeSignal } from './wake-signal.ts';

export interface WaitInput {
  readonly caller: Caller;
  readonly id: string;
  /** The row, where the caller has read it a moment ago: it is then read once only, after the subscription. */
  readonly seen?: Seen | undefined;
  /** Return the open elicitation after this long; without it, wait until it ends. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const EXPIRE_RETRY_MS = 250;

/**
 * Sleeps until the elicitation ends, or `timeoutMs` passes. Subscribes, then reads, then sleeps, so that no answer is
 * missed. Retries during an outage of Redis until its own time is over. Throws `unavailable` only when Redis is still
 * unreachable at the deadline plus grace, and the signal's reason when aborted.
 */
export async function wait(deps: EngineDeps, input: WaitInput): Promise<Seen> {
  const first = input.seen ?? (await readFor(deps, input.caller, input.id));
  if (!maySee(input.caller, first.row)) throw notFound();
  if (isTerminal(first.row.status) || input.timeoutMs === 0) return first;
  return sleep(deps, input, toWaitingRow(first));
}

/**
 * What a waiter keeps of an open row. A pod may hold many thousands of waiters for days, so the definition, which never
 * changes, is kept as text: that takes a fraction of the memory of its objects.
 */
interface WaitingRow {
  readonly definition: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  status: Status;
  revision: number;
  now: number;
}

function toWaitingRow({
  row: { definition, status, revision, createdAt, expiresAt },
  now,
}: Seen): WaitingRow {
  return { definition: JSON.stringify(definition), createdAt, expiresAt, status, revision, now };
}

/** The row as it was last read, with `ending` applied. */
function toRow(id: string, { definition, now, ...row }: WaitingRow, ending: Partial<Row> = {}): Seen {
  return { row: { id, definition: JSON.parse(definition) as Definition, ...row, ...ending }, now };
}

async function sleep(deps: EngineDeps, input: WaitInput, seen: WaitingRow): Promise<Seen> {
  const wakeSignal = new WakeSignal(input.signal);
  let wake: ElicitationWake | undefined;
  const subscription = deps.wakes.subscribe(streamOf(seen), (signal) => {
    if (signal.type === 'event') {
      if (!('elicitationId' in signal.event) || signal.event.elicitationId !== input.id) return;
      wake = signal.event;
    }
    wakeSignal.notify();
  });
  const startedAt = performance.now();
  const until = startedAt + (input.timeoutMs ?? Number.POSITIVE_INFINITY);
  const deadline = startedAt + (seen.expiresAt - seen.now);
  const giveUpAt = deadline + deps.settings.graceMs;
  const checks: Checks = {
    reads: new SleeperReads(),
    deadline,
    nextAt: Math.min(deadline, startedAt + deps.settings.recheckMs),
    giveUpAt,
  };
  try {
    for (;;) {
      const reason = await wakeSignal.wait(Math.min(until, checks.nextAt));
      if (reason === 'notified') checks.reads.notified();
      const ended = wake && readWake(wake, seen, input.id);
      if (ended !== undefined) return resumed(deps, ended, 'push');

      const found = await recheck(deps, input, checks, seen);
      if (typeof found === 'object') return resumed(deps, found, reason === 'notified' ? 'read' : 'sweep');
      if (performance.now() >= until) return toRow(input.id, seen);
      if (found === 'away' && performance.now() >= giveUpAt) throw stillAway();
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

/** The checks of a waiter. Times are on performance.now(). */
interface Checks {
  readonly reads: SleeperReads;
  /** From then on each check tries to expire the row. */
  deadline: number;
  nextAt: number;
  /** The last check, if Redis is still away then. */
  readonly giveUpAt: number;
}

/**
 * Expires the row if it is due, reads it, and sets the time of the next check. Returns the ended row, or `open`, or
 * `away` when Redis cannot be reached.
 */
async function recheck(
  deps: EngineDeps,
  input: WaitInput,
  checks: Checks,
  seen: WaitingRow,
): Promise<Seen | 'open' | 'away'> {
  const isDue = performance.now() >= checks.deadline;
  const result = isDue ? await ifAvailable(() => expire(deps, input.id)) : undefined;
  const read = await checks.reads.read(() => readFor(deps, input.caller, input.id));
  const checkedAt = performance.now();
  if (read !== undefined) checks.deadline = checkedAt + (read.row.expiresAt - read.now);
  else if (result?.type === 'early') checks.deadline = checkedAt + result.remainingMs;
  checks.nextAt = nextCheckAt(deps, checks, checkedAt, read === undefined);
  if (read === undefined) return 'away';
  if (isTerminal(read.row.status)) return read;
  seen.status = read.row.status;
  seen.revision = read.row.revision;
  seen.now = read.now;
  return 'open';
}

function nextCheckAt(
  { settings }: EngineDeps,
  { reads, deadline, giveUpAt }: Checks,
  now: number,
  isAway: boolean,
): number {
  const isDue = now >= deadline;
  const at = now + reads.pauseMs(isDue ? EXPIRE_RETRY_MS : settings.recheckMs);
  return Math.min(at, isDue ? at : deadline, isAway ? giveUpAt : at);
}

function stillAway(): ParleyError {
  return new ParleyError(
    'unavailable',
    'The deadline passed while Redis was away; read the elicitation again.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** The ended row, where the wake carries its settlement and a newer revision; otherwise nothing. */
function readWake(wake: ElicitationWake, seen: WaitingRow, id: string): Seen | undefined {
  const { status, revision, settlement, at } = wake;
  if (revision <= seen.revision || !isTerminal(status) || settlement === undefined) return undefined;
  return toRow(id, { ...seen, status, revision, now: at }, { settlement, settledAt: at });
}

function streamOf({ definition }: WaitingRow): StreamRef {
  const { tenant, userId, streamRequestId } = JSON.parse(definition) as Definition;
  return { tenant, userId, streamRequestId };
}

function resumed(deps: EngineDeps, seen: Seen, source: WakeSource): Seen {
  // Another pod may have settled it. The timer would stay until the deadline and then read the row for nothing.
  deps.timers?.cancel(seen.row.id);
  deps.observer.resumed(seen.row, source);
  return seen;
}
