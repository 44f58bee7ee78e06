/**
 * Waiting for the end of a record, on any pod and through outages. Streams and inboxes, which follow many records, have their
 * own readers in `elicitations/`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import type { FamilyTypes, RecordWake, RowOf } from '@parley/core/domain/family';
import type { StreamRef } from '@parley/core/domain/ids';
import { ifAvailable, SleeperReads } from '../async/retry-while-unavailable.ts';
import { WakeSignal } from '../async/wake-signal.ts';
import { type Caller, maySee, notFound } from '../domain/caller.ts';
import { BACKUP_DELAY_MS } from '../ports/elicitations/deadlines.ts';
import type { WakeSource } from '../ports/elicitations/observer.ts';
import { endingIn, recordEnded } from './ended.ts';
import { expire } from './expire.ts';
import type { RecordDeps } from './family-deps.ts';
import { readRecord, type SeenRecord } from './read.ts';

export interface WaitInput<T extends FamilyTypes> {
  readonly caller: Caller;
  readonly id: string;
  /** The row, if the caller has just read it. It is then read only once, after the subscription. */
  readonly seen?: SeenRecord<T> | undefined;
  /** The time after which to return the open record; if absent, wait until the record ends. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const EXPIRE_RETRY_MS = 250;

/**
 * Sleeps until the record ends, or `timeoutMs` passes. It subscribes, then reads, then sleeps, so that no answer is missed.
 * During an outage of Redis it retries until its own time has passed. Throws `unavailable` only if Redis is still unreachable
 * at the deadline plus grace, and the signal's reason when aborted. All of this is one function, because a pod may hold many
 * thousands of waiters, and each further promise takes memory.
 */
export async function wait<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  input: WaitInput<T>,
): Promise<SeenRecord<T>> {
  const seen = await readFirst(deps, input);
  if ('row' in seen) return seen;
  const wakeSignal = new WakeSignal(input.signal);
  let wake: RecordWake<T> | undefined;
  const subscription = deps.wakes.subscribe(streamOf(seen), input.id, (signal) => {
    if (signal.type === 'event') {
      const { revision, status } = signal.event;
      // On a Cluster, the wake of the very commit that was read may come after the read.
      if (revision === seen.revision && status === seen.status) return;
      wake = signal.event;
    }
    wakeSignal.notify();
  });
  const checks = firstChecks(deps, input, seen);
  try {
    for (;;) {
      await wakeSignal.sleep(Math.min(checks.until, checks.nextAt));
      const reason = wakeSignal.woken();
      if (reason === 'notified') checks.reads.notified();
      const ended = wake && endedBy(deps, wake, seen);
      if (ended !== undefined) return resumed(deps, ended, 'push');

      const found = await recheck(deps, input, checks, seen);
      if (typeof found === 'object') return resumed(deps, found, reason === 'notified' ? 'read' : 'sweep');
      if (performance.now() >= checks.until) return toRow(input.id, seen);
      if (found === 'unavailable' && performance.now() >= checks.giveUpAt) throw stillUnavailable();
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

/** The row if it has already ended; otherwise the compact form that its waiter keeps. */
async function readFirst<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { seen, caller, id, timeoutMs }: WaitInput<T>,
): Promise<SeenRecord<T> | WaitingRow<T>> {
  const first = seen ?? (await readRecord(deps, caller, id));
  if (!maySee(caller, first.row)) throw notFound();
  return deps.family.isTerminal(first.row.status) || timeoutMs === 0 ? first : toWaitingRow(first);
}

/**
 * The compact form of an open row. A pod may hold many thousands of waiters for days, so the definition, which never changes,
 * is kept as text; that takes a fraction of the memory of its objects.
 */
interface WaitingRow<T extends FamilyTypes> {
  readonly definition: string;
  readonly createdAt: number;
  expiresAt: number;
  extensions: RowOf<T>['extensions'];
  status: T['status'];
  revision: number;
  now: number;
}

function toWaitingRow<T extends FamilyTypes>({
  row: { definition, status, revision, createdAt, expiresAt, extensions },
  now,
}: SeenRecord<T>): WaitingRow<T> {
  return { definition: JSON.stringify(definition), createdAt, expiresAt, extensions, status, revision, now };
}

/** The row as last read, with `ending` applied. */
function toRow<T extends FamilyTypes>(
  id: string,
  { definition, now, extensions, ...row }: WaitingRow<T>,
  ending: Partial<RowOf<T>> = {},
): SeenRecord<T> {
  const asked = { id, definition: JSON.parse(definition) as T['definition'], ...row };
  return { row: { ...asked, ...(extensions !== undefined && { extensions }), ...ending }, now };
}

/** The times of a waiter's checks, on performance.now(). */
interface Checks {
  readonly reads: SleeperReads;
  /** When the open row is returned. */
  readonly until: number;
  /** From this time on, each check tries to expire the row. */
  expireAt: number;
  nextAt: number;
  /** When to give up if Redis is still unavailable. */
  giveUpAt: number;
}

function firstChecks<T extends FamilyTypes>(
  { settings }: RecordDeps<T>,
  { timeoutMs = Number.POSITIVE_INFINITY }: WaitInput<T>,
  { expiresAt, now }: WaitingRow<T>,
): Checks {
  const startedAt = performance.now();
  const deadline = startedAt + (expiresAt - now);
  const expireAt = deadline + BACKUP_DELAY_MS;
  const reads = new SleeperReads();
  return {
    reads,
    until: startedAt + timeoutMs,
    expireAt,
    nextAt: Math.min(expireAt, startedAt + reads.pauseMs(settings.recheckMs)),
    giveUpAt: deadline + settings.graceMs,
  };
}

/**
 * Expires the row if it is due, reads it, and sets the time of the next check. Returns the ended row, or `open`, or
 * `unavailable` when Redis cannot be reached.
 */
async function recheck<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  input: WaitInput<T>,
  checks: Checks,
  seen: WaitingRow<T>,
): Promise<SeenRecord<T> | 'open' | 'unavailable'> {
  const isDue = performance.now() >= checks.expireAt;
  const result = isDue ? await ifAvailable(() => expire(deps, input.id)) : undefined;
  const read = await checks.reads.read(() => readRecord(deps, input.caller, input.id));
  const checkedAt = performance.now();
  const earlyMs = result?.type === 'early' ? result.remainingMs : undefined;
  const leftMs = read === undefined ? earlyMs : read.row.expiresAt - read.now;
  // An operator may have moved the deadline.
  if (leftMs !== undefined) {
    checks.expireAt = checkedAt + leftMs + BACKUP_DELAY_MS;
    checks.giveUpAt = checkedAt + leftMs + deps.settings.graceMs;
  }
  checks.nextAt = nextCheckAt(deps, checks, checkedAt, read === undefined);
  if (read === undefined) return 'unavailable';
  if (deps.family.isTerminal(read.row.status)) return read;
  seen.status = read.row.status;
  seen.revision = read.row.revision;
  seen.expiresAt = read.row.expiresAt;
  seen.extensions = read.row.extensions;
  seen.now = read.now;
  return 'open';
}

function nextCheckAt(
  { settings }: Pick<RecordDeps<FamilyTypes>, 'settings'>,
  { reads, expireAt, giveUpAt }: Checks,
  now: number,
  isUnavailable: boolean,
): number {
  const isDue = now >= expireAt;
  const at = now + reads.pauseMs(isDue ? EXPIRE_RETRY_MS : settings.recheckMs);
  return Math.min(at, isDue ? at : expireAt, isUnavailable ? giveUpAt : at);
}

function stillUnavailable(): ParleyError {
  return new ParleyError('unavailable', 'The deadline passed while Redis was unavailable; read it again.', {
    retryAfterSeconds: 1,
  });
}

/** The row that a wake has ended; nothing where the wake does not tell enough. */
function endedBy<T extends FamilyTypes>(
  { family }: RecordDeps<T>,
  wake: RecordWake<T>,
  seen: WaitingRow<T>,
): SeenRecord<T> | undefined {
  const ending = endingIn(family, wake, seen);
  return ending && toRow<T>(wake.id, { ...seen, now: wake.at }, ending);
}

function streamOf({ definition }: Pick<WaitingRow<FamilyTypes>, 'definition'>): StreamRef {
  const { tenant, userId, streamRequestId } = JSON.parse(definition) as StreamRef;
  return { tenant, userId, streamRequestId };
}

function resumed<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  seen: SeenRecord<T>,
  source: WakeSource,
): SeenRecord<T> {
  // If another pod settled the record, this pod's timer would otherwise stay until the deadline and read the row for nothing.
  recordEnded(deps, seen.row.id);
  deps.observer.resumed(seen.row, source);
  return seen;
}
