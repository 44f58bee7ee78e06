/** Builds everything about people's accounts from the environment. The pages are in `pages`, the flows in `accounts`. */

import type { Owner } from '@parley/core/domain/ids';
import { startRounds } from '@parley/shared/async/rounds';
import { type Env, EnvError } from '@parley/shared/config/env';
import { createCredentials } from '../accounts/credentials.ts';
import { disconnectAll } from '../accounts/disconnect.ts';
import { completeOpen } from '../accounts/flows/complete-open.ts';
import { SECRET_MS } from '../accounts/flows/ending.ts';
import { sweepFlows } from '../accounts/flows/sweep.ts';
import { type Account, listAccounts } from '../accounts/listed-accounts.ts';
import { createManagedAccounts } from '../accounts/managed/accounts.ts';
import { createSignInAccounts } from '../accounts/managed/sign-in-accounts.ts';
import { createSignIns } from '../accounts/managed/sign-ins.ts';
import { createSecrets } from '../accounts/secrets.ts';
import type { AgentsConfig } from '../agents/config/file.ts';
import type { LoadedAgentsConfig } from '../agents/config/load.ts';
import type { Credentials } from '../agents/tools/credentials.ts';
import type { Secrets } from '../agents/tools/secrets.ts';
import type { Surface } from '../http/route.ts';
import { createBoundIdentity } from '../pages/identity/bound.ts';
import type { Identity } from '../pages/identity/identity.ts';
import { createOidcIdentity } from '../pages/identity/oidc.ts';
import { createTypedIdentity } from '../pages/identity/typed.ts';
import { type AuthPagesDeps, authRoutes } from '../pages/routes.ts';
import { accountRoutes } from '../surfaces/accounts/routes.ts';
import type { HasConnectPage } from '../surfaces/rest/elicitations.ts';
import { createConnectTargets } from './credentials/targets.ts';
import { isDevelopment, type VaultParts } from './credentials/vault.ts';
import { pageSettings } from './pages/settings.ts';
import type { PodParts } from './pod-parts.ts';

interface AccountParts extends PodParts {
  readonly loaded: LoadedAgentsConfig;
  readonly openVault: () => VaultParts;
}

interface WiredAccounts {
  readonly credentials: Credentials;
  readonly secrets: Secrets;
  readonly surfaces: readonly Surface[];
  readonly hasPage: HasConnectPage;
  /** The parts for the answer page, on which owners sign in by the same rules. */
  readonly pages: AuthPagesDeps;
  readonly disconnectAll: (owner: Owner) => Promise<number>;
  readonly listAccounts: (owner: Owner) => Promise<readonly Account[]>;
  readonly close: () => Promise<void>;
}

const SWEEP_MS = 60_000;
// The age at which a flow with a staged credential counts as interrupted. A flow normally ends within moments after the
// staging.
const STALE_MS = 5 * 60_000;

/**
 * Builds the pages on which people connect accounts and enter secrets, and gives agents access to these. Undefined if there are
 * no personal tools and no pages are configured.
 */
export function wireAccounts(parts: AccountParts): WiredAccounts | undefined {
  const { env, backend, engine, log, loaded } = parts;
  if (!hasPersonalTools(loaded.config) && !isSetUp(env)) return undefined;
  const { elicitations, claims } = backend;
  const isManaged = hasManagedAccounts(loaded.config);
  const { publicUrl, identity } = readPageSettings(env, isManaged);
  const { keys, vault, fresh } = parts.openVault();
  // Sign-ins exist even if no connector is managed: those that an earlier configuration stored must still end with a sign-out
  // or an erasure.
  const signIns =
    identity.type === 'provider' ? createSignIns({ vault, fresh, company: identity.company }) : undefined;
  const targets = createConnectTargets(loaded, {
    publicUrl,
    allowLoopbackHttp: isDevelopment(env),
    grantFor: signIns?.grantFor,
  });
  const settings = pageSettings(parts);
  const { onEvent } = settings;
  function onFault(error: unknown): void {
    log.warn({ err: error }, 'an interrupted connect flow could not be ended; the next sweep retries');
  }
  const swept = { engine, vault, targets, publicUrl, elicitations, onEvent, onFault };
  const stopSweeping = startRounds({
    round: (signal) => sweepFlows(swept, STALE_MS, undefined, signal),
    everyMs: SWEEP_MS,
    onError: onFault,
  });
  const credentials = createCredentials({
    vault,
    fresh,
    ...(signIns !== undefined && {
      managed: createManagedAccounts({ vault, freshCredential: fresh, signIns }),
    }),
    connectorOf: targets.connector,
    completeOpen: (ref) => completeOpen({ engine, vault, publicUrl }, ref),
    onFault: ({ fault }, { toolId, connectorId }) =>
      log.error(
        { fault, toolId, connectorId },
        'a stored credential does not open; its user has to connect again',
      ),
  });
  const pages: AuthPagesDeps = {
    ...settings,
    publicUrl,
    engine,
    elicitations: engine.shown.elicitations,
    vault,
    keys,
    identity,
    targets,
    ...(signIns !== undefined && {
      signInAccounts: createSignInAccounts({ signIns, engine, targets, credentials, publicUrl }),
    }),
    callLimits: parts.limits,
    notifyOrigins: env.PARLEY_CONNECT_TELL_ORIGINS,
  };
  return {
    credentials,
    secrets: createSecrets({ elicitations, claims, vault, takenMs: SECRET_MS }),
    surfaces: [authRoutes(pages), accountRoutes(pages)],
    pages,
    hasPage: (toolId) => targets.find(toolId)?.kind === 'credential',
    disconnectAll: (owner) =>
      disconnectAll({ store: backend.vault, vault, targets, onEvent, signIns }, owner),
    listAccounts: (owner) => listAccounts({ targets, vault }, owner),
    close: stopSweeping,
  };
}

function hasPersonalTools({ mcpServers, a2aAgents }: AgentsConfig): boolean {
  return [...Object.values(mcpServers), ...Object.values(a2aAgents)].some(
    ({ credentialScope }) => credentialScope === 'user',
  );
}

function hasManagedAccounts({ connectors }: AgentsConfig): boolean {
  return Object.values(connectors).some((one) => one.type === 'mcp_oauth' && one.enterpriseManaged);
}

function isSetUp({ PARLEY_PUBLIC_URL: url, PARLEY_CONNECT_IDENTITY: identity }: Env): boolean {
  return url !== undefined && identity !== undefined;
}

/** Reads the address of the pages, and how they identify a person. Throws EnvError with all missing settings. */
function readPageSettings(
  env: Env,
  isManaged: boolean,
): { readonly publicUrl: string; readonly identity: Identity } {
  const publicUrl = env.PARLEY_PUBLIC_URL;
  const identity = publicUrl === undefined ? undefined : createIdentity(env, publicUrl, isManaged);
  if (isManaged && identity !== undefined && identity.type !== 'provider')
    throw new EnvError([
      'PARLEY_CONNECT_IDENTITY: must be oidc where a connector has `enterpriseManaged`: the sign-in connects the accounts',
    ]);
  if (publicUrl !== undefined && identity !== undefined) return { publicUrl, identity };
  const why = 'is required where tools act with accounts of their users (`credentialScope: user`)';
  throw new EnvError([
    ...(publicUrl === undefined ? [`PARLEY_PUBLIC_URL: ${why}`] : []),
    ...(env.PARLEY_CONNECT_IDENTITY === undefined ? [`PARLEY_CONNECT_IDENTITY: ${why}`] : []),
  ]);
}

/** The identity that PARLEY_CONNECT_IDENTITY selects. The check of the environment ensures that its settings exist. */
function createIdentity(env: Env, publicUrl: string, connectsAccounts: boolean): Identity | undefined {
  const tenants = env.PARLEY_CONNECT_TENANTS.length === 0 ? ['default'] : env.PARLEY_CONNECT_TENANTS;
  switch (env.PARLEY_CONNECT_IDENTITY) {
    case 'oidc':
      return createOidcIdentity({
        issuer: env.PARLEY_CONNECT_OIDC_ISSUER ?? '',
        clientId: env.PARLEY_CONNECT_OIDC_CLIENT_ID ?? '',
        ...(env.PARLEY_CONNECT_OIDC_CLIENT_SECRET !== undefined && {
          clientSecret: env.PARLEY_CONNECT_OIDC_CLIENT_SECRET,
        }),
        redirectUri: `${publicUrl}/auth/signed-in`,
        userClaim: env.PARLEY_CONNECT_USER_CLAIM,
        tenants,
        connectsAccounts,
        allowLoopbackHttp: isDevelopment(env),
      });
    case 'session':
      return createBoundIdentity(env.PARLEY_CONNECT_SESSION_URL ?? '');
    case 'dev':
      return createTypedIdentity(tenants[0] ?? 'default');
    case undefined:
      return undefined;
  }
}
