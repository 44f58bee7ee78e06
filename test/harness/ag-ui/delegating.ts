/** Pods in this process, on one Redis, whose agent delegates to a remote AG-UI agent. */
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll } from 'vitest';
import { createAgUiAgents } from '../../../services/api/src/agents/ag-ui/link.ts';
import type { TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { openRedisPods } from '../engines/redis-pods.ts';
import { ROOMY } from '../engines/settings.ts';
import { closeAfterTest, openDelegatingPod, startHandingModel } from '../protocols/delegating-pod.ts';
import { startRedis } from '../redis/redis-server.ts';

export interface AgUiPodOptions {
  /** Address of the remote agent. */
  readonly url: string;
  readonly backend?: Backend;
  readonly pod?: string;
  /** More of the remote agent's entry. */
  readonly entry?: string;
  readonly limits?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly turns?: Partial<TurnsDeps>;
  /** True for a pod that may die: what it awaits then never comes, so that it cannot be closed. */
  readonly mayDie?: boolean;
}

/** Opens pods of one model in the tests of a file. */
export function agUiPodsInFile() {
  let model: ScriptedModel;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let stores: Awaited<ReturnType<typeof openRedisPods>>;
  beforeAll(async () => {
    [model, redis] = await Promise.all([startHandingModel('delegate_to_desk'), startRedis()]);
    stores = await openRedisPods({ kind: 'single', url: redis.url }, ROOMY);
  });
  afterAll(async () => {
    await stores?.close();
    await Promise.all([model?.stop(), redis?.stop()]);
  });

  return {
    /** The stores of two pods. */
    stores: () => [stores.backend, stores.second] as const,
    /** Closed after the test, unless it may die. */
    open({
      url,
      backend = stores.backend,
      pod: name = 'pod',
      entry = ', credentialScope: none',
      ...options
    }: AgUiPodOptions) {
      const agUi = createAgUiAgents();
      const pod = openDelegatingPod({
        model,
        backend,
        file: `agUiAgents:
  desk: { title: Travel Desk, url: "${url}"${entry} }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., delegates: [{ agent: desk, description: Travels. }], limits: { steps: 5${options.limits ?? ''} } }
`,
        env: options.env,
        toolbox: { agUi },
        turns: { pod: name, ...options.turns },
      });
      const close = async () => {
        await pod.close();
        agUi.close();
      };
      if (options.mayDie !== true) closeAfterTest(close);
      return { ...pod, close };
    },
  };
}
