import { PROJECT } from '@parley/shared/domain/credential';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { z } from 'zod';
import {
  type ClientProof,
  createClientCredentials,
} from '../../services/api/src/accounts/connectors/client-credentials/client-credentials.ts';
import { createCredentials } from '../../services/api/src/accounts/credentials.ts';
import { readSigningKey } from '../../services/api/src/agents/config/signing-key.ts';
import type { ProjectCredentials } from '../../services/api/src/agents/mcp/project-access.ts';
import type { KitPages } from './pages.ts';

/** The client that a scenario has registered. */
export interface KitClient {
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly private_key_pem?: string | undefined;
  readonly signing_algorithm?: string | undefined;
  readonly valid_jwt?: string | undefined;
}

const Metadata = z.object({ authorization_servers: z.array(z.string()) });
const TIMEOUT_MS = 60_000;

/** The project's own client at a server: the product's connector, vault and refresh, configured as an operator does. */
export async function createProjectAccount(
  { vault, fresh }: Pick<KitPages, 'vault' | 'fresh'>,
  serverUrl: string,
  client: KitClient,
): Promise<ProjectCredentials> {
  const connector = createClientCredentials(
    {
      serverUrl,
      issuer: await issuerOf(serverUrl),
      clientId: client.client_id ?? '',
      proof: proofOf(client),
      allowLoopbackHttp: true,
      timeoutMs: TIMEOUT_MS,
    },
    { guardedFetch: createGuardedFetch({ allowLoopback: true, timeoutMs: TIMEOUT_MS }) },
  );
  const credentials = createCredentials({
    vault,
    fresh,
    connectorOf: () => connector,
    completeOpen: async () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  return {
    has: () => true,
    present: (toolId, refused) =>
      credentials.present({ ...PROJECT, toolId, connectorId: 'own' }, refused?.version, refused?.scope),
  };
}

/** An operator knows it; the kit tells it nowhere else. */
export async function issuerOf(serverUrl: string): Promise<string> {
  const { origin, pathname } = new URL(serverUrl);
  const reply = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const [issuer = ''] = Metadata.parse(await reply.json()).authorization_servers;
  return issuer;
}

function proofOf(client: KitClient): ClientProof {
  const { client_secret: secret, private_key_pem: pem = '', signing_algorithm: algorithm } = client;
  const { valid_jwt: workload } = client;
  if (workload !== undefined) return { type: 'workload', readToken: async () => workload };
  if (secret !== undefined) return { type: 'secret', secret };
  const key = readSigningKey({ algorithm }, pem);
  if ('fault' in key) throw new Error(key.fault);
  return { type: 'key', ...key };
}
