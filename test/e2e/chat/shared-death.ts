import { afterAll, describe, it } from 'vitest';
import type { ChatSite } from '../../harness/chat/transport-site.ts';

/** A test of what becomes of turns whose pod dies. */
export interface Mourner {
  readonly name: string;
  /** `dies` resolves once the pod 0 has been killed; `replaced` settles once another one is there. */
  readonly test: (
    dies: () => Promise<{ readonly replaced: Promise<void> }>,
    /** Defers work until all tests of the group are over. */
    afterwards: (work: () => Promise<unknown>) => void,
  ) => Promise<void>;
}

/**
 * Runs tests side by side whose turns wait at the same pod, and kills it once for all of them: a pod that starts takes more
 * processor time than most of what is tried on it. A test that fails before keeps none of the others.
 */
export function afterOneDeath(what: string, the: () => ChatSite, mourners: readonly Mourner[]): void {
  describe(what, () => {
    let missing = mourners.length;
    let kill = () => {};
    const killed = new Promise<void>((resolve) => {
      kill = resolve;
    });
    let replaced: Promise<void> | undefined;
    const deferred: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const work of deferred) await work();
    });
    const arrive = () => {
      missing -= 1;
      if (missing === 0) kill();
    };

    for (const { name, test } of mourners)
      it.concurrent(name, async () => {
        let hasArrived = false;
        const dies = async () => {
          hasArrived = true;
          arrive();
          await killed;
          replaced ??= the().replace(0, 'SIGKILL');
          return { replaced };
        };
        try {
          await test(dies, (work) => void deferred.push(work));
        } finally {
          if (!hasArrived) arrive();
          await replaced;
        }
      });
  });
}
