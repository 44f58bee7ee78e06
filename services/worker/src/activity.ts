/** The current work of a worker, for operators. */
export interface Activity {
  /** Runs a named piece of work, and lists it as current until it ends. */
  during<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Records that a round of maintenance has ended on this worker. */
  ended(round: string): void;
  /** The work that is under way, each name once, and how long ago the last round of each kind ended, in ms. */
  read(): {
    readonly aliveMs: number;
    readonly running: readonly string[];
    readonly rounds: ReadonlyMap<string, number>;
  };
}

export function createActivity(): Activity {
  const startedAt = performance.now();
  const underWay: string[] = [];
  const endedAt = new Map<string, number>();
  return {
    async during(name, work) {
      underWay.push(name);
      try {
        return await work();
      } finally {
        underWay.splice(underWay.indexOf(name), 1);
      }
    },
    ended: (round) => void endedAt.set(round, performance.now()),
    read() {
      const now = performance.now();
      return {
        aliveMs: now - startedAt,
        running: [...new Set(underWay)],
        rounds: new Map([...endedAt].map(([round, at]) => [round, now - at])),
      };
    },
  };
}
