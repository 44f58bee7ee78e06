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
  /** Called with every fault of a handler; the task is tried again. */
  readonly onFault: (error: unknown, kind: string) => void;
  /**
   * How long a task is handed to one process, in ms: longer than any of its handlers takes, and the time after which
   * another process takes the task of one that died. A minute by default.
   */
  readonly leaseMs?: number;
}

/** Handles the tasks of the outbox. */
export interface Dispatch extends Deliveries {
  /**
   * Starts every due task for which its kind has a free place, and keeps starting more for about a second while places
   * become free. Does not wait for handlers to finish: a handler that hangs occupies a place of its own kind only. Safe
   * to run in several processes at the same time. Returns how many tasks were started. Throws `unavailable` when a part
   * of the outbox could not be read, after the other parts have been handled. Looks at these buckets only, if they are given.
   */
  round(signal?: AbortSignal, buckets?: readonly number[]): Promise<number>;
  /** How long the longest due task has been due, in ms; 0 when none is. */
  lagMs(): Promise<number>;
  /** Resolves once no handler runs. */
  idle(): Promise<void>;
}

const LEASE_MS = 60_000;
// Short, since a person waits for what is handled at once: should this process die, another one soon handles the task.
const NOW_LEASE_MS = 2_000;
const ROUND_MS = 1_000;
const PAUSE_MS = 50;
const FAULT_MS = 2_000;

/** What one pass over some buckets did. */
interface Pass {
  started: number;
  /** Kinds that ran out of places. */
  readonly full: Set<string>;
  /** Buckets that may hold more tasks of those kinds; first those that had no free place. */
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
      // The task is leased again when its lease has lapsed.
      if (!isParleyError(error, 'unavailable')) deps.onFault(error, kind.name);
    });
    underWay.add(handling);
    void handling.finally(() => {
      underWay.delete(handling);
      count(-1);
    });
    return handling;
  }

  /** Starts the due tasks of one bucket for which there are places. Returns how many. */
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

  /** Starts what is due in these buckets, as far as there are places. */
  async function pass(buckets: readonly number[], signal: AbortSignal | undefined): Promise<Pass> {
    const done: Pass = { started: 0, full: new Set(), more: [], faults: [] };
    const waiting: number[] = [];
    for (const bucket of buckets) {
      if (signal?.aborted === true) break;
      const hadPlaces = fullKinds().length === 0;
      try {
        done.started += await startDue(bucket);
      } catch (error) {
        // On a Cluster one server may be unavailable while the others can still be read.
        done.faults.push(error);
        continue;
      }
      const full = fullKinds();
      for (const name of full) done.full.add(name);
      if (!hadPlaces) waiting.push(bucket);
      else if (full.length > 0) done.more.push(bucket);
    }
    // Otherwise a bucket full of tasks that cannot be started would keep its place before the others.
    done.more.unshift(...waiting);
    return done;
  }

  /** The buckets with tasks, in order from a random one, as far as Redis tells them, and the reasons why others are unknown. */
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
        // Handlers that occupy all places may go on occupying them: the next round finds what is due.
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
      // Without a free place the next round handles it.
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

/** The task of the channel that notifies the person. Its kind may be registered in other processes only. */
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

/** Handles a task, and again at once what was noted during that, where its kind is immediate. It keeps its place for that. */
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

/** Handles a task once, and reports. True when the task is done but was noted during its handling. */
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
  // What could not be handled is not tried again at once, also where it was noted during the attempt.
  if ('retryInMs' in result) await outbox.again(entry, result.retryInMs, result.failure);
  else if ('restInMs' in result) await outbox.rest(entry, result.restInMs);
  else await outbox.giveBack(entry, result.deferInMs, result.failure);
  return false;
}
