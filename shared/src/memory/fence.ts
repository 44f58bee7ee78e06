import type { Owner } from '@parley/core/domain/ids';
import { userErased } from '../ports/erasure.ts';
import { ownerKey } from './owner-key.ts';

/** The fences of recently erased people in one process. */
export interface MemoryFence {
  /** Fences the owner for `forMs` from now: nothing new can be stored for them. */
  raise(owner: Owner, forMs: number): void;
  /** Throws `user_erased` while the owner is fenced. */
  check(owner: Owner): void;
}

export function createMemoryFence(): MemoryFence {
  const until = new Map<string, number>();
  return {
    raise(owner, forMs) {
      const key = ownerKey(owner);
      const end = performance.now() + forMs;
      until.set(key, end);
      setTimeout(() => until.get(key) === end && until.delete(key), forMs).unref();
    },
    check(owner) {
      const leftMs = (until.get(ownerKey(owner)) ?? 0) - performance.now();
      if (leftMs > 0) throw userErased(leftMs);
    },
  };
}
