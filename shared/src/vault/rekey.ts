/**
 * Moves all sealed records to the active master key, so that old keys can be removed. It never sees a credential: only the
 * wrapping of the data keys changes.
 */

import type { LapsingValue, SealedRecord, SealedStore } from '../ports/sealed.ts';
import type { KeyRing } from './key-ring.ts';
import { identityOf } from './records.ts';
import { keyIdOf, rewrap, SealError } from './seal.ts';

export interface RekeyReport {
  /** Records found in the latest round. */
  readonly seen: number;
  /** Records whose data key was wrapped by the active key, in all rounds. */
  readonly rewrapped: number;
  /** Records of the latest round that others changed at the same time. Another round checks them again. */
  readonly changed: number;
  /** Records of the latest round that cannot be opened: they are damaged, or sealed with a key that is not in the ring. */
  readonly unreadable: number;
  /** Ids of the missing keys of the unreadable records. */
  readonly missingKeys: readonly string[];
  /** Values of the latest round that are sealed with another key and will expire by themselves. */
  readonly lapsing: number;
  /** The time until the last of these values has expired, in ms. */
  readonly lapsedInMs: number;
  /** True when the latest round found every record under the active key. The other keys may then be removed. */
  readonly done: boolean;
}

interface RekeyDeps {
  /** All stores with sealed values. */
  readonly stores: readonly SealedStore[];
  readonly keys: KeyRing;
}

interface RekeyOptions {
  /** Called after every page with the progress of the round. */
  readonly onProgress?: (report: RekeyReport) => void;
  readonly signal?: AbortSignal;
}

const ROUNDS_MAX = 5;

/**
 * Wraps the data key of every record with the active master key. It is safe while pods read and write, because it replaces a
 * record only if that has not changed since it was read. It may be stopped and started again, because it skips finished
 * records. It repeats until a round finds nothing to do. If pods still seal with an older key, it stops after some rounds and
 * reports that it is not done. Throws the signal's reason, or `unavailable`.
 */
export async function rekey(deps: RekeyDeps, options: RekeyOptions = {}): Promise<RekeyReport> {
  let rewrapped = 0;
  for (let rounds = 1; ; rounds += 1) {
    const report = await runRound(deps, options, rewrapped);
    const idle = report.rewrapped === rewrapped && report.changed === 0;
    if (idle || rounds === ROUNDS_MAX)
      return { ...report, done: idle && report.unreadable === 0 && report.lapsing === 0 };
    rewrapped = report.rewrapped;
  }
}

type RewrapResult = 'current' | 'rewrapped' | 'changed' | 'unreadable' | 'lapsing';

async function runRound(
  { stores, keys }: RekeyDeps,
  options: RekeyOptions,
  before: number,
): Promise<RekeyReport> {
  const counts: Record<RewrapResult, number> = {
    current: 0,
    rewrapped: 0,
    changed: 0,
    unreadable: 0,
    lapsing: 0,
  };
  const missingKeys = new Set<string>();
  let lapsedInMs = 0;
  const report = (): RekeyReport => ({
    seen: Object.values(counts).reduce((sum, count) => sum + count, 0),
    rewrapped: before + counts.rewrapped,
    changed: counts.changed,
    unreadable: counts.unreadable,
    missingKeys: [...missingKeys].sort(),
    lapsing: counts.lapsing,
    lapsedInMs,
    done: false,
  });

  async function rewrapOne(store: SealedStore, value: SealedRecord | LapsingValue): Promise<RewrapResult> {
    let sealed: string;
    try {
      const keyId = keyIdOf(value.sealed);
      if (keyId === keys.activeId) return 'current';
      if ('leftMs' in value) {
        lapsedInMs = Math.max(lapsedInMs, value.leftMs);
        return 'lapsing';
      }
      if (keys.keyOf(keyId) === undefined) missingKeys.add(keyId);
      sealed = rewrap(keys, identityOf(value), value.sealed);
    } catch (error) {
      if (error instanceof SealError) return 'unreadable';
      throw error;
    }
    return (await store.rewrap(value, sealed)) ? 'rewrapped' : 'changed';
  }

  for (const store of stores) {
    for await (const page of store.scan(options.signal)) {
      const results = await Promise.all(page.map((value) => rewrapOne(store, value)));
      for (const result of results) counts[result] += 1;
      options.onProgress?.(report());
    }
  }
  return report();
}
