/** Builds the credentials that Parley obtains for the project itself. People's accounts are built in `targets.ts`. */

import { readFile } from 'node:fs/promises';
import type { Env } from '@parley/shared/config/env';
import { PROJECT } from '@parley/shared/domain/credential';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import type { Log } from '@parley/shared/observe/log';
import type { Backend } from '@parley/shared/ports/backend';
import { sha256 } from '@parley/shared/records/digest';
import type { ProjectConnector } from '../../accounts/connector.ts';
import {
  type ClientProof,
  createClientCredentials,
} from '../../accounts/connectors/client-credentials/client-credentials.ts';
import { createCredentials } from '../../accounts/credentials.ts';
import { isOfProject } from '../../agents/config/connectors.ts';
import type { ProjectConnectorEntry } from '../../agents/config/file.ts';
import type { LoadedAgentsConfig } from '../../agents/config/load.ts';
import { readSigningKey } from '../../agents/config/signing-key.ts';
import type { ProjectCredentials } from '../../agents/mcp/project-access.ts';
import { deleteUnusedTokens } from './project-records.ts';
import { METADATA_BOUNDS } from './targets.ts';
import { isDevelopment, type VaultParts } from './vault.ts';

interface ProjectParts {
  readonly env: Pick<Env, 'NODE_ENV'>;
  readonly log: Pick<Log, 'error' | 'warn' | 'info'>;
  readonly backend: Pick<Backend, 'vault'>;
  readonly loaded: LoadedAgentsConfig;
  /** Called only if a server has such a credential. */
  readonly openVault: () => Pick<VaultParts, 'vault' | 'fresh'>;
}

/** The metadata of an authorization server may be long. */

/** The credentials for servers whose tokens Parley obtains for the project. Undefined if there are none. */
export function wireProjectCredentials({
  env,
  log,
  backend,
  loaded,
  openVault,
}: ProjectParts): ProjectCredentials | undefined {
  const allowLoopbackHttp = isDevelopment(env);
  const guardedFetch = createGuardedFetch({ allowLoopback: allowLoopbackHttp, ...METADATA_BOUNDS });
  const { mcpServers, connectors } = loaded.config;
  const servers = new Map<string, { readonly connectorId: string; readonly connector: ProjectConnector }>();
  for (const server of Object.values(mcpServers)) {
    if (server.transport !== 'http' || server.credentialScope !== 'project') continue;
    const entry = connectors[server.connector ?? ''];
    if (entry === undefined || !isOfProject(entry)) continue;
    const { issuer, clientId, scopes } = entry;
    const proof = proofOf(entry, loaded.secretOf);
    const connector = createClientCredentials(
      {
        serverUrl: server.url,
        issuer,
        clientId,
        proof,
        allowLoopbackHttp,
        ...(scopes !== undefined && { scopes }),
      },
      { guardedFetch },
    );
    const connectorId = `${entry.id}.${digestOf([server.url, issuer, clientId, scopes ?? null])}`;
    servers.set(server.id, { connectorId, connector });
  }
  // This runs in the background: old records must not delay the start of a pod.
  deleteUnusedTokens(backend.vault, servers).then(
    (deleted) => deleted > 0 && log.info({ deleted }, 'unused tokens of the project were deleted'),
    (error) =>
      log.warn({ err: error }, 'unused tokens of the project were not deleted; the next start retries'),
  );
  if (servers.size === 0) return undefined;
  const { vault, fresh } = openVault();
  const credentials = createCredentials({
    vault,
    fresh,
    connectorOf: (_connectorId, toolId) => servers.get(toolId)?.connector,
    completeOpen: async () => undefined,
    onFault: ({ fault }, { toolId, connectorId }) =>
      log.error(
        { fault, toolId, connectorId },
        'a stored token of the project does not open; it is replaced',
      ),
  });
  return {
    has: (serverId) => servers.has(serverId),
    async present(serverId, refused) {
      const server = servers.get(serverId);
      if (server === undefined) return { type: 'absent' };
      const ref = { ...PROJECT, toolId: serverId, connectorId: server.connectorId };
      return credentials.present(ref, refused?.version, refused?.scope);
    },
  };
}

/**
 * The name of the record for a configuration's token. It contains a digest, because pods with the old and the new configuration
 * run together during an upgrade and would otherwise replace each other's token at every call.
 */
function digestOf(configured: readonly unknown[]): string {
  return sha256(JSON.stringify(configured)).slice(0, 12);
}

function proofOf(entry: ProjectConnectorEntry, secretOf: LoadedAgentsConfig['secretOf']): ClientProof {
  if (entry.type === 'workload_identity')
    return { type: 'workload', readToken: async () => (await readFile(entry.tokenFile, 'utf8')).trim() };
  const { clientSecretEnv, clientAuthentication: method, privateKeyEnv } = entry;
  if (clientSecretEnv !== undefined) {
    const secret = secretOf(clientSecretEnv);
    return { type: 'secret', secret, ...(method !== undefined && { method }) };
  }
  const key = readSigningKey(entry, privateKeyEnv === undefined ? '' : secretOf(privateKeyEnv));
  if ('fault' in key) throw new Error(`connectors.${entry.id}.${key.at}: ${key.fault}`);
  return { type: 'key', ...key };
}
