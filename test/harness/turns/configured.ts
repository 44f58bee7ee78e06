import type { Owner } from '@parley/core/domain/ids';
import type { Credential } from '@parley/shared/domain/credential';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import type { Backend } from '@parley/shared/ports/backend';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import { onTestFinished } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createApiKeyConnector } from '../../../services/api/src/accounts/connectors/api-key.ts';
import { createCredentials } from '../../../services/api/src/accounts/credentials.ts';
import { completeOpen } from '../../../services/api/src/accounts/flows/complete-open.ts';
import { createManagedAccounts } from '../../../services/api/src/accounts/managed/accounts.ts';
import { type LoadedAgentsConfig, readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import { createAgents } from '../../../services/api/src/agents/loop/agents.ts';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { withProjectAccess } from '../../../services/api/src/agents/mcp/project-access.ts';
import { createToolbox, type ToolboxDeps } from '../../../services/api/src/agents/offer/toolbox.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/run/observer.ts';
import { createMcpOffering } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import { createNamedTools } from '../../../services/api/src/agents/tools/named-tools.ts';
import { createTurns, type TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import { wireProjectCredentials } from '../../../services/api/src/wiring/credentials/project.ts';
import { engineOn } from '../engines/engines.ts';
import { ROOMY } from '../engines/settings.ts';
import { newKeys } from '../vault/stores.ts';

/** The credentials of a pod whose servers need none. */
const NO_CREDENTIALS: ToolboxDeps['credentials'] = {
  present: async () => ({ type: 'absent' }),
  widen: async () => undefined,
  refused: async () => undefined,
  promote: async () => undefined,
  completeOpen: async () => undefined,
};

export interface ConfiguredPod
  extends Partial<Pick<ToolboxDeps, 'credentials' | 'rounds' | 'secrets'>>,
    Partial<Pick<TurnsDeps, 'engine' | 'pod' | 'leaseTiming' | 'hasAnswerPage'>> {
  /** The agents file, and the variables that it names. */
  readonly yaml: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The keys of the vault, for servers whose tokens are obtained for the project. */
  readonly projectKeys?: KeyRing;
  readonly backend?: Backend;
}

/** The turns of a pod with the agents, servers and offers of an agents file. It ends with the test. */
export function startConfiguredPod(options: ConfiguredPod) {
  const { yaml, backend = createMemoryBackend(ROOMY), engine = engineOn(backend), pod = 'pod' } = options;
  const { credentials = NO_CREDENTIALS, rounds, secrets, leaseTiming, hasAnswerPage = false } = options;
  const { env = {}, projectKeys } = options;
  const loaded = readAgentsConfig(yaml, 'agents.yaml', env);
  const servers = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
  const project = projectKeys && projectCredentials(backend, loaded, projectKeys);
  const mcp = project === undefined ? servers : withProjectAccess(servers, project);
  const deps = {
    loaded,
    mcp,
    credentials,
    clientRequests: createClientRequests(backend),
    ...(rounds !== undefined && { rounds }),
    ...(secrets !== undefined && { secrets }),
    onServerFailure: () => undefined,
  };
  const named = createNamedTools(deps);
  const faults: unknown[] = [];
  const turns = createTurns({
    ...backend,
    engine,
    delegates: 'same-pod',
    holdMs: 300_000,
    hasAnswerPage,
    leaseTiming,
    observer: silentTurnObserver,
    agents: createAgents({ loaded, named, toolsOf: createToolbox(deps) }),
    offering: createMcpOffering({ config: loaded.config, named }),
    pod,
    onFault: (error) => faults.push(error),
  });
  const close = async () => {
    await turns.close();
    await mcp.close();
  };
  onTestFinished(close);
  return { backend, engine, loaded, turns, faults, close };
}

function projectCredentials(backend: Backend, loaded: LoadedAgentsConfig, keys: KeyRing) {
  const { vault: store } = backend;
  const vault = createVault({ store, keys });
  const silent = () => undefined;
  return wireProjectCredentials({
    env: { NODE_ENV: 'test' },
    log: { error: silent, warn: silent, info: silent },
    backend,
    loaded,
    openVault: () => ({ vault, fresh: createRefresher({ vault, leases: store }) }),
  });
}

export interface PersonalPod extends Omit<ConfiguredPod, 'credentials'> {
  /** How people connect their account `account`; with a key that they type, when absent. */
  readonly connector?: Connector;
  readonly keys?: ReturnType<typeof newKeys>;
}

/** A pod whose agents act with the accounts that people have connected at the server `tracker`. */
export function startPersonalPod({ keys = newKeys(), ...options }: PersonalPod) {
  const { backend = createMemoryBackend(ROOMY), engine = engineOn(backend) } = options;
  const connector =
    options.connector ?? createApiKeyConnector({ id: 'account' }, { guardedFetch: createGuardedFetch() });
  const vault = createVault({ store: backend.vault, keys });
  const fresh = createRefresher({ vault, leases: backend.vault });
  const credentials = createCredentials({
    vault,
    fresh,
    ...(connector.obtainFor !== undefined && {
      managed: createManagedAccounts({ vault, freshCredential: fresh, signIns: { since: async () => 1 } }),
    }),
    connectorOf: () => connector,
    completeOpen: (ref) => completeOpen({ engine, vault, publicUrl: 'https://parley.example' }, ref),
    onFault: () => undefined,
  });
  return {
    ...startConfiguredPod({ ...options, backend, engine, credentials }),
    vault,
    /** What the connect page does once it has a credential, up to where the person has accepted. */
    async give({ tenant, userId }: Owner, id: string, credential: Credential) {
      const ref = { tenant, userId, toolId: 'tracker', connectorId: 'account', flowId: id };
      await vault.stage(ref, credential, 60_000);
      await engine.complete({ caller: { kind: 'service', tenant }, id, surface: 'connect' });
    },
  };
}
