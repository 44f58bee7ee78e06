import { isParleyError } from '../domain/errors.ts';
import { BUCKET_COUNT } from '../domain/ids.ts';
import type { Outbox, OutboxEntry, OutboxResult, OutboxTask } from '../ports/outbox.ts';

/** How each kind of task is done. Must be harmless when done twice. Rejects to be tried again. */
export type Handlers = {
  readonly [Kind in OutboxTask['kind']]: (
    task: Extract<OutboxTask, { readonly kind: Kind }>,
    attempt: number,
  ) => Promise<OutboxResult>;
};

export interface DispatchDeps {
  readonly outbox: Outbox;
  readonly handlers: Handlers;
  /** Told of a task that failed and will be tried again. */
  readonly onFault: (error: unknown, kind: OutboxTask['kind']) => void;
}

/** Does what the outbox has noted. */
export interface Dispatch {
  /**
   * Begins all that is due, as far as there is room; each task comes again until it is done. Waits for none, so that
   * receivers that hang keep others waiting only when they take up all the places of webhooks. Safe to run anywhere and
   * at once. Returns how many were begun. Throws `unavailable` when part of the outbox could not be read, once the rest
   * has been.
   */
  round(signal?: AbortSignal): Promise<number>;
  /** Does one task at once that was noted just now. Should that fail, the outbox still has it. Never rejects. */
  now(task: OutboxTask): Promise<void>;
  /** Resolves once nothing is under way any more. */
  idle(): Promise<void>;
}

// Longer than any task takes: whoever has it may still be at it.
const LEASE_MS = 60_000;
const AT_ONCE = 64;
// So that there is always room to wake a turn.
const WEBHOOKS_AT_ONCE = 48;
const FULL_MS = 1_000;
const BACK_OFF_MS = 500;
const BACK_OFF_MS_MAX = 60_000;

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { outbox } = deps;
  const underWay = new Set<Promise<void>>();
  let webhooks = 0;

  function begin(entry: OutboxEntry): Promise<void> {
    const isWebhook = entry.task.kind === 'webhook';
    const isFull = isWebhook && webhooks >= WEBHOOKS_AT_ONCE;
    if (isWebhook && !isFull) webhooks += 1;
    const attempt = (isFull ? outbox.giveBack(entry, FULL_MS) : attemptOf(deps, entry)).catch(
      (error: unknown) => {
        // Its lease runs out.
        if (!isParleyError(error, 'unavailable')) deps.onFault(error, entry.task.kind);
      },
    );
    underWay.add(attempt);
    void attempt.finally(() => {
      underWay.delete(attempt);
      if (isWebhook && !isFull) webhooks -= 1;
    });
    return attempt;
  }

  return {
    async round(signal) {
      const first = Math.floor(Math.random() * BUCKET_COUNT);
      let begun = 0;
      let fault: unknown;
      for (let index = 0; index < BUCKET_COUNT; index += 1) {
        if (signal?.aborted === true) break;
        const room = AT_ONCE - underWay.size;
        if (room <= 0) break;
        try {
          const entries = await outbox.take((first + index) % BUCKET_COUNT, room, LEASE_MS);
          for (const entry of entries) void begin(entry);
          begun += entries.length;
        } catch (error) {
          // On a Cluster one server may be away, and the buckets of the others must not wait for it.
          fault ??= error;
        }
      }
      if (fault !== undefined) throw fault;
      return begun;
    },
    // Beyond that the next round does it.
    now: async (task) => (underWay.size < AT_ONCE ? begin({ task, attempt: 1, lease: 0 }) : undefined),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

async function attemptOf(deps: DispatchDeps, entry: OutboxEntry): Promise<void> {
  const { task, attempt } = entry;
  const result = await handle(deps, task, attempt).catch((error: unknown): OutboxResult => {
    if (!isParleyError(error, 'unavailable')) deps.onFault(error, task.kind);
    return { againInMs: Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS * 2 ** Math.min(attempt, 10)) };
  });
  if (result === 'done') await deps.outbox.done(entry);
  else await deps.outbox.again(entry, result.againInMs);
}

function handle({ handlers }: DispatchDeps, task: OutboxTask, attempt: number): Promise<OutboxResult> {
  return task.kind === 'wake' ? handlers.wake(task, attempt) : handlers.webhook(task, attempt);
}
