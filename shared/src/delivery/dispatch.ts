import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '../domain/errors.ts';
import { BUCKET_COUNT } from '../domain/ids.ts';
import type {
  Outbox,
  OutboxEntry,
  OutboxHandlers,
  OutboxResult,
  OutboxRoom,
  OutboxTask,
} from '../ports/delivery/outbox.ts';

type Kind = OutboxTask['kind'];

const KINDS = ['wake', 'webhook'] as const satisfies readonly Kind[];

export interface DispatchDeps {
  readonly outbox: Outbox;
  readonly handlers: OutboxHandlers;
  /** Told of a task that failed and will be tried again. */
  readonly onFault: (error: unknown, kind: Kind) => void;
}

/** Does what the outbox has noted. */
export interface Dispatch {
  /**
   * Begins all that is due, for about a second while places become free; each task comes again until it is done. Waits
   * for none to end: what hangs takes places of its own kind only. Safe to run anywhere and at once. Returns how many
   * were begun. Throws `unavailable` when part of the outbox could not be read, once the rest has been.
   */
  round(signal?: AbortSignal): Promise<number>;
  /**
   * Wakes at once whoever was noted just now; what goes out of the house is left to the rounds. Should it fail, the
   * outbox still has it. Never rejects.
   */
  now(task: OutboxTask): Promise<void>;
  /** Resolves once nothing is under way any more. */
  idle(): Promise<void>;
}

// Longer than any task takes: whoever has it may still be at it.
const LEASE_MS = 60_000;
// Each kind has its own, so that receivers that hang keep no turn from being woken.
const PLACES: OutboxRoom = { wake: 16, webhook: 48 };
const ROUND_MS = 1_000;
// So that a full house costs few looks.
const PAUSE_MS = 50;
const FAULT_MS = 2_000;

/** What came of a look at some buckets. */
interface Pass {
  begun: number;
  /** Kinds that ran out of places. */
  readonly short: Set<Kind>;
  /** Buckets that may have more of those. */
  readonly more: number[];
  readonly faults: unknown[];
}

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { outbox } = deps;
  const underWay = new Set<Promise<void>>();
  const busy = { wake: 0, webhook: 0 };
  const room = () => ({ wake: PLACES.wake - busy.wake, webhook: PLACES.webhook - busy.webhook });

  function begin(entry: OutboxEntry): Promise<void> {
    const { kind } = entry.task;
    busy[kind] += 1;
    const attempt = attemptOf(deps, entry).catch((error: unknown) => {
      // Its lease runs out.
      if (!isParleyError(error, 'unavailable')) deps.onFault(error, kind);
    });
    underWay.add(attempt);
    void attempt.finally(() => {
      underWay.delete(attempt);
      busy[kind] -= 1;
    });
    return attempt;
  }

  /** Begins what is due in these buckets, as far as there are places. */
  async function pass(buckets: readonly number[], signal: AbortSignal | undefined): Promise<Pass> {
    const seen: Pass = { begun: 0, short: new Set(), more: [], faults: [] };
    for (const bucket of buckets) {
      if (signal?.aborted === true) break;
      const left = room();
      try {
        for (const entry of await outbox.take(bucket, left, LEASE_MS)) {
          left[entry.task.kind] -= 1;
          seen.begun += 1;
          void begin(entry);
        }
      } catch (error) {
        // On a Cluster one server may be away: no reason to leave undone what the others have.
        seen.faults.push(error);
        continue;
      }
      const short = KINDS.filter((kind) => left[kind] <= 0);
      for (const kind of short) seen.short.add(kind);
      if (short.length > 0) seen.more.push(bucket);
    }
    return seen;
  }

  return {
    async round(signal) {
      const endsAt = performance.now() + ROUND_MS;
      let seen = await pass(inTurnFrom(Math.floor(Math.random() * BUCKET_COUNT)), signal);
      let { begun } = seen;
      const faults = [...seen.faults];
      while (seen.more.length > 0 && signal?.aborted !== true && performance.now() < endsAt) {
        await sleep(PAUSE_MS);
        const { short } = seen;
        // Whatever holds all places may go on holding them.
        if (!KINDS.some((kind) => short.has(kind) && room()[kind] > 0)) break;
        seen = await pass(seen.more, signal);
        begun += seen.begun;
        faults.push(...seen.faults);
      }
      if (faults.length > 0) throw faults[0];
      return begun;
    },
    // Beyond that the next round does it.
    async now(task) {
      if (task.kind === 'wake' && room().wake > 0) await begin({ task, attempt: 1, lease: 0 });
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function inTurnFrom(first: number): number[] {
  return Array.from({ length: BUCKET_COUNT }, (_, index) => (first + index) % BUCKET_COUNT);
}

async function attemptOf({ outbox, handlers, onFault }: DispatchDeps, entry: OutboxEntry): Promise<void> {
  const { task, attempt } = entry;
  const doing = task.kind === 'wake' ? handlers.wake(task, attempt) : handlers.webhook(task, attempt);
  const result = await doing.catch((error: unknown): OutboxResult => {
    if (!isParleyError(error, 'unavailable')) onFault(error, task.kind);
    return { deferInMs: FAULT_MS };
  });
  if (result === 'done') await outbox.done(entry);
  else if ('retryInMs' in result) await outbox.again(entry, result.retryInMs);
  else await outbox.giveBack(entry, result.deferInMs);
}
