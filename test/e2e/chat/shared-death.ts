import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ChatSite } from '../../harness/chat/transport-site.ts';

/** The death of a pod, as a test of what becomes of its turns sees it. */
export interface Death {
  /** Resolves once no test begins a turn that needs the model. Replies stop after their first words from then on. */
  held(): Promise<void>;
  /** Resolves once the pod 0 has been killed; `replaced` settles once another one is there. */
  dies(): Promise<{ readonly replaced: Promise<void> }>;
  /** After `held`: resolves once no test needs held replies any more, and replies go on. */
  goesOn(): Promise<void>;
  /** Defers work until all tests of the group are over. */
  afterwards(work: () => Promise<unknown>): void;
}

/** A test of what becomes of turns whose pod dies. */
export interface Mourner {
  readonly name: string;
  readonly test: (death: Death) => Promise<void>;
}

const [HELD, DIES, GOES_ON] = [0, 1, 2] as const;

/** A moment that comes once all tests have reached it; then `act` is done. */
function createMoment(tests: number, act: () => void) {
  let missing = tests;
  let come = () => {};
  const met = new Promise<void>((resolve) => {
    come = resolve;
  });
  const reach = () => {
    missing -= 1;
    if (missing > 0) return;
    act();
    come();
  };
  return { met, reach };
}

/**
 * Runs tests side by side whose turns wait or speak at the same pod, and kills it once for all of them: a pod that starts
 * takes more processor time than most of what is tried on it. A test that fails before keeps none of the others.
 */
export function afterOneDeath(what: string, the: () => ChatSite, mourners: readonly Mourner[]): void {
  describe(what, () => {
    let replaced: Promise<void> = Promise.resolve();
    const moments = [
      createMoment(mourners.length, () => the().gate.hold()),
      createMoment(mourners.length, () => {
        replaced = the().replace(0, 'SIGKILL');
      }),
      createMoment(mourners.length, () => the().gate.release()),
    ] as const;
    const deferred: (() => Promise<unknown>)[] = [];
    let running: readonly Promise<void>[] = [];

    async function run({ test }: Mourner): Promise<void> {
      let reached = 0;
      let isHeld = false;
      const reach = (moment: number) => {
        for (; reached <= moment; reached += 1) moments[reached]?.reach();
      };
      const death: Death = {
        held() {
          isHeld = true;
          reach(HELD);
          return moments[HELD].met;
        },
        async dies() {
          // A test that holds no replies needs none held.
          reach(isHeld ? DIES : GOES_ON);
          await moments[DIES].met;
          return { replaced };
        },
        goesOn() {
          reach(GOES_ON);
          return moments[GOES_ON].met;
        },
        afterwards: (work) => void deferred.push(work),
      };
      try {
        await test(death);
      } finally {
        reach(GOES_ON);
        await replaced;
      }
    }

    beforeAll(() => {
      running = mourners.map(run);
      for (const one of running) one.catch(() => undefined);
    });
    afterAll(async () => {
      await Promise.allSettled(running);
      for (const work of deferred) await work();
    });
    for (const [at, { name }] of mourners.entries()) it(name, () => running[at]);
  });
}
