import type { Engine } from '@parley/shared/elicitations/engine';
import type { BackendSettings } from '@parley/shared/ports/backend';
import { afterAll, afterEach, beforeAll, it } from 'vitest';
import { SIZE } from '../load/size.ts';
import { engineOn } from './engines.ts';
import type { Pods, Store } from './pods.ts';
import { ROOMY } from './settings.ts';

/** What each part of the contract tests with. */
export interface Contract {
  /** Two pods with roomy settings, for all tests of the file. */
  readonly pods: Pods;
  /** An engine on the one pod. */
  readonly first: Engine;
  /** An engine on the other. */
  readonly second: Engine;
  readonly lose: Store['lose'];
  readonly dump: Store['dump'];
  readonly hasLine: boolean;
  /** A case that waits for time to pass, and shows nothing else that depends on the topology: see `Store`. */
  readonly itOverTime: (title: string, run: () => Promise<void>, timeoutMs?: number) => void;
  /** Two pods with settings of their own; closed when the test ends. */
  openWith(settings: Partial<BackendSettings>): Promise<Pods>;
}

/** Opens the pods before the tests of the current suite and closes them after. */
export function contractOn({ open, lose, dump, hasLine, isTopology = false }: Store): Contract {
  let shared: { pods: Pods; first: Engine; second: Engine } | undefined;
  const own: Pods[] = [];
  beforeAll(async () => {
    const pods = await open(ROOMY);
    shared = { pods, first: engineOn(pods.backend), second: engineOn(pods.second) };
  });
  afterEach(async () => {
    await Promise.all(own.splice(0).map((pods) => pods.close()));
  });
  afterAll(() => shared?.pods.close());
  const opened = () => {
    if (shared === undefined) throw new Error('The pods are open within tests only.');
    return shared;
  };
  return {
    get pods() {
      return opened().pods;
    },
    get first() {
      return opened().first;
    },
    get second() {
      return opened().second;
    },
    lose,
    dump,
    hasLine,
    // Skipped on Sentinel and Cluster in a daily run: these cases wait for keys and windows to lapse, which a server does by
    // itself however requests reach it. Memory and one Redis prove them daily, and `npm run soak` proves them everywhere.
    itOverTime: it.skipIf(isTopology && !SIZE.full),
    async openWith(settings) {
      const pods = await open({ ...ROOMY, ...settings });
      own.push(pods);
      return pods;
    },
  };
}
