import type { RunRef } from '@parley/shared/domain/runs/run';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { keyOfCall } from '../call-names.ts';

/** What a client was told of. Times are in ms. */
export interface ToldTimes {
  /** How long its person can act. */
  readonly openMs: number;
  /** When the latest of it was asked, since 1970. */
  readonly upTo: number;
}

/** The calls whose client was told where its person acts, on every pod. */
export interface ToldCalls {
  /** The client was told of all that the call has asked up to `upTo`, in ms since 1970. Remembered for at least `keptMs`. */
  note(run: RunRef, upTo: number, keptMs: number): Promise<void>;
  find(run: RunRef): Promise<ToldCall | undefined>;
  /** The result was fetched. Remembered for `keptMs`. */
  fetched(run: RunRef, keptMs: number): Promise<void>;
  forget(run: RunRef): Promise<void>;
}

/** Up to which question its client was told, or that the result was fetched since. */
export type ToldCall = { readonly upTo: number } | 'fetched';

const FETCHED = 'fetched';

export function createToldCalls(records: OwnerRecords): ToldCalls {
  const nameOf = (run: RunRef) => `mcp-told/${keyOfCall(run)}`;
  return {
    async note(run, upTo, keptMs) {
      const name = nameOf(run);
      for (;;) {
        const from = await records.putIfAbsent(run, name, String(upTo), keptMs);
        if (from === FETCHED || Number(from) >= upTo) break;
        if (await records.replace(run, { name, from, to: String(upTo), ttlMs: keptMs })) break;
      }
      await records.read(run, name, keptMs);
    },
    async find(run) {
      const stored = await records.read(run, nameOf(run));
      if (stored === undefined) return undefined;
      return stored === FETCHED ? FETCHED : { upTo: Number(stored) };
    },
    async fetched(run, ttlMs) {
      const name = nameOf(run);
      const from = await records.read(run, name);
      if (from !== undefined) await records.replace(run, { name, from, to: FETCHED, ttlMs });
    },
    forget: async (run) => void (await records.remove(run, nameOf(run))),
  };
}
