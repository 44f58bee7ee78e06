import { createMemoryVaultStore } from '@parley/shared/memory/vault-store';
import { createGuardedFetch } from '@parley/shared/runtime/guarded-fetch';
import { createDevelopmentKeyRing } from '@parley/shared/vault/key-ring';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import type { Credentials } from '../../services/api/src/agents/tools/credentials.ts';
import type { AgentQuestion } from '../../services/api/src/agents/tools/question.ts';
import { createMcpOAuthConnector } from '../../services/api/src/surfaces/connect/connectors/mcp-oauth/mcp-oauth.ts';
import type { RegisteredClient } from '../../services/api/src/surfaces/connect/connectors/mcp-oauth/register.ts';
import { createCredentials } from '../../services/api/src/surfaces/connect/credentials.ts';
import { knownFlowId } from '../../services/api/src/surfaces/connect/flows/flow-id.ts';
import { signInOf } from '../../services/api/src/surfaces/connect/identity/company.ts';
import { createOidcIdentity } from '../../services/api/src/surfaces/connect/identity/oidc.ts';
import { createManagedAccounts } from '../../services/api/src/surfaces/connect/managed/accounts.ts';
import { createSignIns } from '../../services/api/src/surfaces/connect/managed/sign-ins.ts';

export const REF = { tenant: 'kit', userId: 'ada', toolId: 'kit', connectorId: 'account' } as const;
/** The kit's authorization servers accept this one URL as the id of a client. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/** The kit runs all scenarios at once. */
const TIMEOUT_MS = 60_000;

export interface Account {
  readonly credentials: Credentials;
  /** Consents to what a question asks for, as a person does on the pages. Rejects where the flow fails. */
  consent(elicitationId: string, question: AgentQuestion): Promise<void>;
}

/** A person's company sign-in that has taken place. */
export interface KitSignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
}

/** A person's account at a server: the product's connector, vault and refresh, and a person who consents to everything. */
export async function createAccount(
  serverUrl: string,
  registered: { readonly issuer: string; readonly client: RegisteredClient } | undefined,
  signIn?: KitSignIn,
): Promise<Account> {
  const store = createMemoryVaultStore();
  const vault = createVault({ store, keys: createDevelopmentKeyRing(() => undefined) });
  const fresh = createRefresher({ vault, leases: store });
  const signIns = signIn && createSignIns({ vault, fresh, company: companyOf(signIn) });
  const kept = signIn && signInOf({ id_token: signIn.idToken }, { exp: Date.now() / 1000 + 3600 });
  if (kept !== undefined) await signIns?.save(REF, kept);
  const connector = createMcpOAuthConnector(
    {
      id: REF.connectorId,
      serverUrl,
      clientName: 'Parley',
      redirectUri: 'http://127.0.0.1:9/auth/callback/account',
      metadataUrl: CLIENT_METADATA_URL,
      allowLoopbackHttp: true,
      timeoutMs: TIMEOUT_MS,
      ...registered,
    },
    {
      guardedFetch: createGuardedFetch({ allowLoopback: true, timeoutMs: TIMEOUT_MS }),
      grantFor: signIns?.grantFor,
    },
  );
  return {
    credentials: createCredentials({
      vault,
      fresh,
      ...(signIns && { managed: createManagedAccounts({ vault, freshCredential: fresh, signIns }) }),
      connectorOf: () => connector,
      completeOpen: async () => undefined,
      onFault: (error) => {
        throw error;
      },
    }),
    async consent(elicitationId, { context }) {
      const flowId = knownFlowId(elicitationId);
      const scope = context?.requiredScope;
      const begun = await connector.begin({
        flowId,
        tenant: REF.tenant,
        ...(typeof scope === 'string' && { scope }),
      });
      if (begun.type !== 'redirect') throw new Error(`cannot begin: ${JSON.stringify(begun)}`);
      const provider = await fetch(begun.url, { redirect: 'manual' });
      const url = provider.headers.get('location') ?? '';
      const result = await connector.finish({ type: 'callback', url }, begun.keep);
      if (result.type !== 'connected') throw new Error(`not connected: ${JSON.stringify(result)}`);
      await vault.stage({ ...REF, flowId }, result.credential, 60_000);
    },
  };
}

function companyOf({ issuer, clientId }: KitSignIn) {
  const redirectUri = 'http://127.0.0.1:9/auth/signed-in';
  const sub = { userClaim: 'sub', tenants: [REF.tenant], allowLoopbackHttp: true };
  return createOidcIdentity({ issuer, clientId, redirectUri, ...sub }).company;
}
