import type { SealedRecord, VaultStore } from '../ports/vault.ts';
import type { KeyRing } from './key-ring.ts';
import { identityOf } from './records.ts';
import { keyIdOf, rewrap, SealError } from './seal.ts';

export interface RekeyReport {
  /** Records found in the latest round. */
  readonly seen: number;
  /** Records that were put under the active key, over all rounds. */
  readonly rewrapped: number;
  /** Records of the latest round that others changed just then; a further round looks at them again. */
  readonly changed: number;
  /** Records of the latest round that do not open: changed by somebody, or under a key that the ring lacks. */
  readonly unreadable: number;
  /** Ids of the keys that the unreadable ones need and the ring lacks. */
  readonly missingKeys: readonly string[];
  /** True when every record was found under the active key in the latest round: the other keys may go. */
  readonly done: boolean;
}

export interface RekeyDeps {
  readonly store: Pick<VaultStore, 'scan' | 'rewrap'>;
  readonly keys: KeyRing;
}

export interface RekeyOptions {
  /** Told after every page how the round stands. */
  readonly onProgress?: (report: RekeyReport) => void;
  readonly signal?: AbortSignal;
}

const ROUNDS_MAX = 5;

/**
 * Puts every record under the active master key, by wrapping its data key anew. Safe while pods read and write, for it
 * replaces only what is still as it was read; may be stopped and started again, for it passes over what is done. Goes
 * round until a whole round finds nothing to do: pods that still seal with an older key would make it go on for ever,
 * so it stops after some rounds and says that it is not done. Throws the signal's reason, and `unavailable`.
 */
export async function rekey(deps: RekeyDeps, options: RekeyOptions = {}): Promise<RekeyReport> {
  let rewrapped = 0;
  for (let rounds = 1; ; rounds += 1) {
    const report = await goRound(deps, options, rewrapped);
    const idle = report.rewrapped === rewrapped && report.changed === 0;
    if (idle || rounds === ROUNDS_MAX) return { ...report, done: idle && report.unreadable === 0 };
    rewrapped = report.rewrapped;
  }
}

type Fate = 'current' | 'rewrapped' | 'changed' | 'unreadable';

async function goRound(deps: RekeyDeps, options: RekeyOptions, before: number): Promise<RekeyReport> {
  const counts: Record<Fate, number> = { current: 0, rewrapped: 0, changed: 0, unreadable: 0 };
  const missingKeys = new Set<string>();
  const report = (): RekeyReport => ({
    seen: counts.current + counts.rewrapped + counts.changed + counts.unreadable,
    rewrapped: before + counts.rewrapped,
    changed: counts.changed,
    unreadable: counts.unreadable,
    missingKeys: [...missingKeys].sort(),
    done: false,
  });
  for await (const page of deps.store.scan(options.signal)) {
    const fates = await Promise.all(page.map((record) => rewrapOne(deps, record, missingKeys)));
    for (const fate of fates) counts[fate] += 1;
    options.onProgress?.(report());
  }
  return report();
}

async function rewrapOne(deps: RekeyDeps, record: SealedRecord, missingKeys: Set<string>): Promise<Fate> {
  const { store, keys } = deps;
  let sealed: string;
  try {
    const keyId = keyIdOf(record.sealed);
    if (keyId === keys.activeId) return 'current';
    if (keys.keyOf(keyId) === undefined) missingKeys.add(keyId);
    sealed = rewrap(keys, identityOf(record), record.sealed);
  } catch (error) {
    if (error instanceof SealError) return 'unreadable';
    throw error;
  }
  return (await store.rewrap(record, sealed)) ? 'rewrapped' : 'changed';
}
