/** Pods in this process whose agent delegates to a remote A2A agent. */
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll, vi } from 'vitest';
import type { PushesOf } from '../../../services/api/src/agents/a2a/call-agent.ts';
import { createRemoteAgents } from '../../../services/api/src/agents/a2a/remote-agents.ts';
import type { Credentials } from '../../../services/api/src/agents/tools/credentials.ts';
import type { TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { ROOMY } from '../engines/settings.ts';
import {
  closeAfterTest,
  NO_CREDENTIALS,
  openDelegatingPod,
  startHandingModel,
} from '../protocols/delegating-pod.ts';

/** The credential of a person at the agent, by a connector. */
export const PERSONAL = {
  entry: ', credentialScope: user, connector: desk',
  file: 'connectors:\n  desk: { type: api_key, title: Desk, instructions: Ask the desk. }\n',
};

/** Credentials that a connector presents. */
export const presenting = (present: Credentials['present'], promote = NO_CREDENTIALS.promote) => ({
  ...NO_CREDENTIALS,
  present,
  promote,
});

export interface RemotePodOptions {
  readonly backend: Backend;
  /** Address of the card. */
  readonly cardUrl: string;
  readonly pod?: string;
  /** More of the remote agent's entry, and of the file. */
  readonly entry?: string;
  readonly file?: string;
  /** More of the entry of the agent that names the remote one. */
  readonly delegate?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: string;
  readonly credentials?: Credentials;
  readonly turns?: Partial<TurnsDeps>;
  /** True for a pod that may die: what it awaits then never comes, so that it cannot be closed. */
  readonly mayDie?: boolean;
  /** Receives what the remote agent pushes. */
  readonly pushesOf?: PushesOf | undefined;
}

/** Opens pods of one model in the tests of a file. What the SDK of the remote agents writes is kept from the output. */
export function remotePodsInFile() {
  let model: ScriptedModel;
  beforeAll(async () => {
    for (const method of ['debug', 'error', 'info', 'warn'] as const)
      vi.spyOn(console, method).mockReturnValue();
    model = await startHandingModel('delegate_to_desk');
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await model.stop();
  });

  return {
    model: () => model,
    /** Closed after the test. */
    openBackend(wrap = (backend: Backend) => backend): Backend {
      const backend = wrap(createMemoryBackend(ROOMY));
      closeAfterTest(() => backend.close());
      return backend;
    },
    /** Closed after the test, unless it may die. */
    openPod({ backend, cardUrl, entry = ', credentialScope: none', ...options }: RemotePodOptions) {
      const { pod: name = 'pod', delegate = '', limits = '', file = '', pushesOf } = options;
      const a2a = createRemoteAgents();
      const pod = openDelegatingPod({
        model,
        backend,
        file: `a2aAgents:
  desk: { title: Travel Desk, cardUrl: "${cardUrl}"${entry} }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., delegates: [{ agent: desk, description: Travels.${delegate} }], limits: { steps: 5${limits} } }
${file}`,
        env: options.env,
        credentials: options.credentials,
        toolbox: { a2a, pushesOf },
        turns: { pod: name, ...options.turns },
      });
      const close = async () => {
        await pod.close();
        a2a.close();
      };
      if (options.mayDie !== true) closeAfterTest(close);
      return { ...pod, close };
    },
  };
}
