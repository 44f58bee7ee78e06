/**
 * Leases due outbox tasks, calls the handlers of their kinds and reports the results. When to look for tasks is not decided
 * here, but in `dispatch-loop.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import { bucketOf } from '@parley/core/domain/ids';
import type {
  CommitNotes,
  CommittedApproval,
  CommittedElicitation,
  Deliveries,
  DeliveryKind,
} from '../ports/delivery/kind.ts';
import type { Outbox, OutboxEntry, OutboxResult, OutboxRoom, OutboxTask } from '../ports/delivery/outbox.ts';

interface DispatchDeps {
  readonly outbox: Outbox;
  /** The registered delivery kinds; no two have the same name. */
  readonly kinds: readonly DeliveryKind[];
  /** Called with each unexpected error of a handler. The task is retried. */
  readonly onFault: (error: unknown, kind: string) => void;
  /**
   * How long a process leases a task, in ms. It must be longer than any handler takes. When a process dies, another one takes
   * its tasks after this time. A minute by default.
   */
  readonly leaseMs?: number;
}

/** Handles the tasks of the outbox. */
export interface Dispatch extends Deliveries {
  /**
   * Starts every due task whose kind has a free place, and for about a second continues to start tasks as places become free.
   * It does not wait for handlers, so one that hangs blocks only a place of its own kind. Several processes may run rounds at
   * the same time. With `buckets`, only those are read. Returns the number of started tasks. Throws `unavailable` when a part
   * of the outbox could not be read, after handling the other parts.
   */
  round(signal?: AbortSignal, buckets?: readonly number[]): Promise<number>;
  /** For how long the oldest due task has been due, in ms; 0 when none is due. */
  lagMs(): Promise<number>;
  /** Resolves once no handler is running. */
  idle(): Promise<void>;
}

const LEASE_MS = 60_000;
// This lease is short because a person waits for tasks of immediate kinds: when this process dies, another one soon takes the
// task.
const NOW_LEASE_MS = 2_000;
const ROUND_MS = 1_000;
const PAUSE_MS = 50;
const FAULT_MS = 2_000;

/** The result of one pass over some buckets. */
interface Pass {
  started: number;
  /** Kinds whose places are all taken. */
  readonly full: Set<string>;
  /** Buckets that may hold more due tasks of the `full` kinds, beginning with those that got no place at all. */
  readonly more: number[];
  readonly faults: unknown[];
}

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { outbox, leaseMs = LEASE_MS } = deps;
  const kinds = byName(deps.kinds);
  const names = [...kinds.keys()];
  const underWay = new Set<Promise<void>>();
  const busy = new Map(names.map((name) => [name, 0]));
  const freePlaces = (name: string) => (kinds.get(name)?.places ?? 0) - (busy.get(name) ?? 0);
  const fullKinds = () => names.filter((name) => freePlaces(name) <= 0);
  const room = (): OutboxRoom => Object.fromEntries(names.map((name) => [name, freePlaces(name)]));

  function start(kind: DeliveryKind, taken: OutboxEntry | Promise<OutboxEntry | undefined>): Promise<void> {
    const count = (change: number) => busy.set(kind.name, (busy.get(kind.name) ?? 0) + change);
    count(1);
    const handling = handle(deps, kind, taken).catch((error: unknown) => {
      // After its lease has lapsed, the task is leased again.
      if (!isParleyError(error, 'unavailable')) deps.onFault(error, kind.name);
    });
    underWay.add(handling);
    void handling.finally(() => {
      underWay.delete(handling);
      count(-1);
    });
    return handling;
  }

  /** Starts the due tasks of one bucket while there are free places. Returns the number of started tasks. */
  async function startDue(bucket: number): Promise<number> {
    let started = 0;
    for (const entry of await outbox.take(bucket, room(), leaseMs)) {
      const kind = kinds.get(entry.task.kind);
      if (kind === undefined) continue;
      started += 1;
      void start(kind, entry);
    }
    return started;
  }

  /** Starts the due tasks of these buckets while there are free places. */
  async function pass(buckets: readonly number[], signal: AbortSignal | undefined): Promise<Pass> {
    const done: Pass = { started: 0, full: new Set(), more: [], faults: [] };
    const waiting: number[] = [];
    for (const bucket of buckets) {
      if (signal?.aborted === true) break;
      const hadPlaces = fullKinds().length === 0;
      try {
        done.started += await startDue(bucket);
      } catch (error) {
        // On a Cluster, one server may be unavailable while the others can be read.
        done.faults.push(error);
        continue;
      }
      const full = fullKinds();
      for (const name of full) done.full.add(name);
      if (!hadPlaces) waiting.push(bucket);
      else if (full.length > 0) done.more.push(bucket);
    }
    // Buckets that were not read go first in the next pass; otherwise one full bucket would always be served before them.
    done.more.unshift(...waiting);
    return done;
  }

  /** The buckets with tasks, starting at a random one, and the errors of the servers that could not be asked. */
  async function findOccupied(): Promise<{ readonly buckets: number[]; readonly faults: unknown[] }> {
    const parts = await Promise.allSettled(outbox.occupied(names));
    const found = parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
    const first = Math.floor(Math.random() * found.length);
    const faults = parts.flatMap((part): unknown[] => (part.status === 'rejected' ? [part.reason] : []));
    return { buckets: [...found.slice(first), ...found.slice(0, first)], faults };
  }

  return {
    kinds: names,
    async round(signal, chosen) {
      const endsAt = performance.now() + ROUND_MS;
      const found = chosen === undefined ? await findOccupied() : undefined;
      const buckets = found?.buckets ?? chosen ?? [];
      const faults = [...(found?.faults ?? [])];
      let last = await pass(buckets, signal);
      let { started } = last;
      faults.push(...last.faults);
      while (last.more.length > 0 && signal?.aborted !== true && performance.now() < endsAt) {
        await sleep(PAUSE_MS);
        const { full } = last;
        // When every place is taken by a long-running handler, this round ends; the next round finds the due tasks.
        if (![...full].some((name) => freePlaces(name) > 0)) break;
        last = await pass(last.more, signal);
        started += last.started;
        faults.push(...last.faults);
      }
      if (faults.length > 0) throw faults[0];
      return started;
    },
    notesOn: (elicitation) =>
      collectNotes(deps.kinds, (kind) => kind.taskOn?.(elicitation), noticesOf(elicitation)),
    notesOnApproval: (approval) =>
      collectNotes(deps.kinds, (kind) => kind.taskOnApproval?.(approval), noticesOf(approval)),
    async now(task) {
      const kind = kinds.get(task.kind);
      // Without a free place, the next round handles the task.
      if (kind?.immediate === true && freePlaces(kind.name) > 0)
        await start(kind, outbox.takeOne(task, NOW_LEASE_MS));
    },
    lagMs: () => outbox.lagMs(names),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function byName(kinds: readonly DeliveryKind[]): ReadonlyMap<string, DeliveryKind> {
  const known = new Map<string, DeliveryKind>();
  for (const kind of kinds) {
    if (!/^[a-z][a-z0-9-]*$/.test(kind.name)) throw new Error(`"${kind.name}" cannot name a delivery kind.`);
    if (known.has(kind.name)) throw new Error(`Two delivery kinds are named "${kind.name}".`);
    known.set(kind.name, kind);
  }
  return known;
}

/** The tasks that notify the person through a channel. The channel's kind may be registered only in other processes. */
function noticesOf({ id, definition }: CommittedElicitation | CommittedApproval): OutboxTask[] {
  const { notify } = definition;
  return notify === undefined ? [] : [{ kind: notify.channel, subject: id, bucket: bucketOf(definition) }];
}

function collectNotes(
  kinds: readonly DeliveryKind[],
  taskOf: (kind: DeliveryKind) => OutboxTask | undefined,
  more: readonly OutboxTask[] = [],
): CommitNotes {
  const tasks = [...more];
  let keepEndedMs: number | undefined;
  for (const kind of kinds) {
    const task = taskOf(kind);
    if (task === undefined) continue;
    tasks.push(task);
    if (kind.keepEndedMs !== undefined) keepEndedMs = Math.max(keepEndedMs ?? 0, kind.keepEndedMs);
  }
  return { tasks, ...(keepEndedMs !== undefined && { keepEndedMs }) };
}

/**
 * Handles a task. When a task of an immediate kind is noted again during that, it is handled again at once, in the same place.
 */
async function handle(
  deps: DispatchDeps,
  kind: DeliveryKind,
  taken: OutboxEntry | Promise<OutboxEntry | undefined>,
): Promise<void> {
  let entry = await taken;
  while (entry !== undefined) {
    const isDueAgain = await attempt(deps, kind, entry);
    entry =
      isDueAgain && kind.immediate === true ? await deps.outbox.takeOne(entry.task, NOW_LEASE_MS) : undefined;
  }
}

/**
 * Handles a task once and reports the result to the outbox. Returns true when the task is done but was noted again during that.
 */
async function attempt(
  { outbox, onFault }: DispatchDeps,
  kind: DeliveryKind,
  entry: OutboxEntry,
): Promise<boolean> {
  const result = await kind.handle(entry.task, entry.attempt).catch((error: unknown): OutboxResult => {
    if (!isParleyError(error, 'unavailable')) onFault(error, kind.name);
    return { deferInMs: FAULT_MS, failure: { code: isParleyError(error) ? error.code : 'internal' } };
  });
  if (result === 'done') return outbox.done(entry);
  // A failed task always waits before its next attempt, even when it was noted again during this one.
  if ('retryInMs' in result) await outbox.again(entry, result.retryInMs, result.failure);
  else if ('restInMs' in result) await outbox.rest(entry, result.restInMs);
  else await outbox.giveBack(entry, result.deferInMs, result.failure);
  return false;
}
