import type { Engine } from '@parley/shared/elicitations/engine';
import type { BackendSettings } from '@parley/shared/ports/backend';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { engineOn } from './engines.ts';
import type { Pods, Store } from './pods.ts';
import { ROOMY } from './settings.ts';

/** What each part of the contract tests with. */
export interface Contract extends Omit<Store, 'open'> {
  /** Two pods with roomy settings, for all tests of the file. */
  readonly pods: Pods;
  /** An engine on the one pod. */
  readonly first: Engine;
  /** An engine on the other. */
  readonly second: Engine;
  /** Two pods with settings of their own; closed when the test ends. */
  openWith(settings: Partial<BackendSettings>): Promise<Pods>;
  /** A function that is called when the test ends. */
  onEnd(run: () => unknown): void;
  /** A signal that is aborted when the test ends. */
  signal(): AbortSignal;
}

/** Opens the pods before the tests of the current suite and closes them after. */
export function contractOn(store: Store): Contract {
  const { open } = store;
  let shared: { pods: Pods; first: Engine; second: Engine } | undefined;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    const pods = await open(ROOMY);
    shared = { pods, first: engineOn(pods.backend), second: engineOn(pods.second) };
  });
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
  });
  afterAll(() => shared?.pods.close());
  const opened = () => {
    if (shared === undefined) throw new Error('The pods are open within tests only.');
    return shared;
  };
  return {
    ...store,
    get pods() {
      return opened().pods;
    },
    get first() {
      return opened().first;
    },
    get second() {
      return opened().second;
    },
    async openWith(settings) {
      const pods = await open({ ...ROOMY, ...settings });
      ends.push(() => pods.close());
      return pods;
    },
    onEnd: (run) => void ends.push(run),
    signal() {
      const stop = new AbortController();
      ends.push(() => stop.abort());
      return stop.signal;
    },
  };
}
