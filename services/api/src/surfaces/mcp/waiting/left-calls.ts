import type { RunRef } from '@parley/shared/domain/runs/run';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { keyOfCall } from '../call-names.ts';

/**
 * The calls that clients have left running, for all pods: the client was told where its person acts, or has the call as a task.
 */
export interface LeftCalls {
  /**
   * Records that the client was told about everything that the call had asked up to `upTo`, in ms since 1970. Stored for at
   * least `keptMs`.
   */
  noteTold(run: RunRef, upTo: number, keptMs: number): Promise<void>;
  findTold(run: RunRef): Promise<ToldCall | undefined>;
  /** Records that the result of a call about which a client was told has been fetched. Stored for `keptMs`. */
  fetched(run: RunRef, keptMs: number): Promise<void>;
  /** Records that a client has the call with this digest as a task. Stored for `keptMs`. */
  noteTask(run: RunRef, digest: string, keptMs: number): Promise<void>;
  /** The digest of a call that is a task and whose result was not fetched. */
  digestOfTask(run: RunRef): Promise<string | undefined>;
  isLeft(run: RunRef): Promise<boolean>;
  forget(run: RunRef): Promise<void>;
}

/** Up to which time the client was told about questions, or that the result was fetched since. */
type ToldCall = { readonly upTo: number } | 'fetched';

const FETCHED = 'fetched';

export function createLeftCalls(records: OwnerRecords): LeftCalls {
  const toldName = (run: RunRef) => `mcp-told/${keyOfCall(run)}`;
  const taskName = (run: RunRef) => `mcp-task/${keyOfCall(run)}`;
  const digestOfTask = (run: RunRef) => records.read(run, taskName(run));

  async function findTold(run: RunRef): Promise<ToldCall | undefined> {
    const stored = await records.read(run, toldName(run));
    if (stored === undefined) return undefined;
    return stored === FETCHED ? FETCHED : { upTo: Number(stored) };
  }

  return {
    findTold,
    digestOfTask,
    async noteTold(run, upTo, keptMs) {
      const name = toldName(run);
      for (;;) {
        const from = await records.putIfAbsent(run, name, String(upTo), keptMs);
        if (from === FETCHED || Number(from) >= upTo) break;
        if (await records.replace(run, { name, from, to: String(upTo), ttlMs: keptMs })) break;
      }
      await records.read(run, name, keptMs);
    },
    async fetched(run, ttlMs) {
      const name = toldName(run);
      const from = await records.read(run, name);
      if (from !== undefined) await records.replace(run, { name, from, to: FETCHED, ttlMs });
      await records.remove(run, taskName(run));
    },
    noteTask: async (run, digest, keptMs) =>
      void (await records.putIfAbsent(run, taskName(run), digest, keptMs)),
    isLeft: async (run) => (await findTold(run)) !== undefined || (await digestOfTask(run)) !== undefined,
    async forget(run) {
      await Promise.all([records.remove(run, toldName(run)), records.remove(run, taskName(run))]);
    },
  };
}
