import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { createMcpOAuthConnector } from '../../services/api/src/accounts/connectors/mcp-oauth/mcp-oauth.ts';
import type { RegisteredClient } from '../../services/api/src/accounts/connectors/mcp-oauth/register.ts';
import { createCredentials } from '../../services/api/src/accounts/credentials.ts';
import { createManagedAccounts } from '../../services/api/src/accounts/managed/accounts.ts';
import { createSignIns } from '../../services/api/src/accounts/managed/sign-ins.ts';
import { signInOf } from '../../services/api/src/accounts/oauth/company.ts';
import type { Credentials } from '../../services/api/src/agents/tools/credentials.ts';
import { createOidcIdentity } from '../../services/api/src/pages/identity/oidc.ts';
import { type KitPages, PERSON } from './pages.ts';

/** The kit's authorization servers accept this one URL as the id of a client. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/** The kit runs all scenarios at once. */
const TIMEOUT_MS = 60_000;

/** A person's company sign-in that has taken place. */
export interface KitSignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
}

export interface KitAccount {
  /** The id of the server, which is that of the tool. */
  readonly toolId: string;
  readonly serverUrl: string;
  readonly registered?: { readonly issuer: string; readonly client: RegisteredClient } | undefined;
  readonly signIn?: KitSignIn | undefined;
}

/** The product's connector, vault and refresh for the person's account at a server. The pages connect it. */
export async function createAccount(pages: KitPages, account: KitAccount): Promise<Credentials> {
  const { toolId, serverUrl, registered, signIn } = account;
  const { vault, fresh } = pages;
  // The kit's provider has no page for a sign-in: it tells the token of one.
  const signIns = signIn && createSignIns({ vault, fresh, company: companyOf(signIn) });
  const kept = signIn && signInOf({ id_token: signIn.idToken }, { exp: Date.now() / 1000 + 3600 });
  if (kept !== undefined) await signIns?.save(PERSON, kept);
  const id = connectorIdOf(toolId);
  const connector = createMcpOAuthConnector(
    {
      id,
      serverUrl,
      clientName: 'Parley',
      redirectUri: `${pages.publicUrl}/auth/callback/${id}`,
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
  pages.offer(toolId, connector);
  return createCredentials({
    vault,
    fresh,
    ...(signIns && { managed: createManagedAccounts({ vault, freshCredential: fresh, signIns }) }),
    connectorOf: () => connector,
    completeOpen: pages.completeOpen,
    onFault: (error) => {
      throw error;
    },
  });
}

export const connectorIdOf = (toolId: string) => `account-${toolId}`;

function companyOf({ issuer, clientId }: KitSignIn) {
  const redirectUri = 'http://127.0.0.1:9/auth/signed-in';
  const sub = { userClaim: 'sub', tenants: [PERSON.tenant], allowLoopbackHttp: true };
  return createOidcIdentity({ issuer, clientId, redirectUri, ...sub }).company;
}
