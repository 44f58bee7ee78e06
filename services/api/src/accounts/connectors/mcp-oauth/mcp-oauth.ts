/**
 * The connector for people's accounts at MCP servers, which connects discovery, registration and the OAuth flow. Each of these
 * steps is in a file of its own.
 */

import type { Owner } from '@parley/core/domain/ids';
import { parsed } from '@parley/core/domain/parsed';
import { OAuthGrantor } from '@parley/shared/domain/credential';
import { scopesOfList } from '@parley/shared/domain/oauth/scopes';
import type { GuardedFetch } from '@parley/shared/ports/delivery/guarded-fetch';
import {
  type Connector,
  type ConnectorFailure,
  credentialFailure,
  failure,
  foreignCredential,
} from '../../connector.ts';
import { elicitationOfFlow } from '../../flow-id.ts';
import type { GrantFor } from '../../managed/sign-ins.ts';
import { createCached } from '../../oauth/cached.ts';
import { createProofKey } from '../../oauth/proof-key.ts';
import { type Discovered, discoverServer, isFor, isSameIssuer } from './discover.ts';
import { createServerFetch } from './fetch.ts';
import { connectorOf, grantedOf, isBound, scopesFor, serverOf } from './grantor.ts';
import { obtainManaged } from './managed.ts';
import { clientMetadataDocument, createRegistration, type RegisteredClient } from './register.ts';

export interface McpOAuthOptions {
  readonly id: string;
  /** The only MCP server for which this connector obtains tokens; absent where no server uses it any more. */
  readonly serverUrl?: string;
  readonly redirectUri: string;
  /** The name by which Parley registers at authorization servers. */
  readonly clientName: string;
  /** Where `clientMetadata` is served; absent where authorization servers cannot read it. */
  readonly metadataUrl?: string;
  /** The only authorization server to accept; by default, the first that the MCP server names. */
  readonly issuer?: string;
  /** The client that the deployer registered at `issuer`. */
  readonly client?: RegisteredClient;
  /** Scopes to request where the server's challenge names none; by default, all that the server lists. */
  readonly scopes?: readonly string[];
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
  /** For each call, ms; 10 s by default. */
  readonly timeoutMs?: number;
}

interface McpOAuthDeps {
  /** Present where the company sign-ins of people connect the accounts. */
  readonly grantFor?: GrantFor | undefined;
  /** Calls addresses that a server chose. */
  readonly guardedFetch: GuardedFetch;
  /** Milliseconds on a clock that never goes back; by default, `performance.now`. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 10_000;
/** How long the consent page shows what was discovered, ms. An attempt discovers anew. */
const DESCRIPTION_TTL_MS = 60_000;
/** The registration no longer exists. The next attempt to connect registers again. */
const CLIENT_GONE = new Set(['invalid_client', 'unauthorized_client']);

/**
 * OAuth for MCP servers: the MCP server names its authorization server, and Parley registers there without configuration. The
 * discovered metadata is sealed with the flow and then with the credential, so any pod can finish the flow and refresh the
 * tokens.
 */
export function createMcpOAuthConnector(
  options: McpOAuthOptions,
  { guardedFetch, grantFor, now = () => performance.now() }: McpOAuthDeps,
): Connector {
  const { id, serverUrl, issuer, client, metadataUrl } = options;
  const allowLoopbackHttp = options.allowLoopbackHttp === true;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const trusted = [serverUrl ?? [], issuer ?? []].flat();
  const fetch = createServerFetch({ trusted, timeoutMs, guardedFetch });
  const registration = createRegistration(options, fetch, now);

  async function discover(): Promise<Discovered | ConnectorFailure> {
    if (serverUrl === undefined) return failure('provider_error', 'no MCP server uses the connector');
    return discoverServer({ serverUrl, issuer, fetch, allowLoopbackHttp, timeoutMs });
  }
  const described = createCached(
    async () => {
      const found = await discover();
      if (found.type === 'failed') throw new Error(found.detail);
      return found;
    },
    { ttlMs: DESCRIPTION_TTL_MS, now },
  );
  /** False once the configuration names another MCP server or another issuer. */
  function isAccepted(grantor: OAuthGrantor): boolean {
    if (serverUrl === undefined || !isFor(serverUrl, grantor.resource)) return false;
    return issuer === undefined || isSameIssuer(grantor.issuer, issuer);
  }
  /** The configured client, for its own issuer only: no other server may receive its secret. */
  function configuredFor(grantor: OAuthGrantor): RegisteredClient | undefined {
    if (client?.clientId !== grantor.clientId || issuer === undefined) return undefined;
    return isSameIssuer(grantor.issuer, issuer) ? client : undefined;
  }
  const connectorTo = (grantor: OAuthGrantor, scopes: readonly string[] = []) =>
    connectorOf(grantor, configuredFor(grantor) ?? grantor, {
      ...options,
      scopes,
      allowLoopbackHttp,
      timeoutMs,
      fetch,
    });

  async function grantorOf(found: Discovered, question: string): Promise<OAuthGrantor | ConnectorFailure> {
    try {
      const server = serverOf(found);
      // The secret of a configured client is not sealed, so that the deployer can change it.
      if (client !== undefined) return { ...server, clientId: client.clientId };
      return { ...server, ...(await registration.register(found.metadata, question)) };
    } catch {
      return failure('provider_error', 'the authorization server did not register Parley as a client');
    }
  }

  return {
    id,
    kind: 'oauth2',

    async describe(asked) {
      const found = await described().catch(() => undefined);
      if (found === undefined) return { scopes: scopesOfList(asked?.scope ?? '') };
      const { origin } = new URL(found.metadata.authorization_endpoint);
      return { origin, scopes: scopesFor(found, options.scopes, asked?.scope) };
    },

    async begin(context) {
      const found = await discover();
      if (found.type === 'failed') return found;
      const grantor = await grantorOf(found, elicitationOfFlow(context.flowId) ?? context.flowId);
      if ('type' in grantor) return grantor;
      const scopes = scopesFor(found, options.scopes, context.scope);
      const begun = await connectorTo(grantor, scopes).begin(context);
      if (begun.type !== 'redirect') return begun;
      return {
        ...begun,
        callbackState: {
          ...begun.callbackState,
          grantor: JSON.stringify(grantor),
          scopes: scopes.join(' '),
          ...(isBound(found) && { proofKey: await createProofKey() }),
        },
      };
    },

    async finish(input, callbackState) {
      const grantor = parsed(OAuthGrantor, callbackState.grantor ?? '');
      if (grantor === undefined || !isAccepted(grantor))
        return failure('bad_state', 'the flow belongs to another connector, or to another server');
      const result = await connectorTo(grantor, scopesOfList(callbackState.scopes ?? '')).finish(
        input,
        callbackState,
      );
      if (result.type === 'failed') {
        if (CLIENT_GONE.has(result.providerError ?? '')) registration.forget(grantor.clientId);
        return result;
      }
      const { credential } = result;
      return credential.kind === 'oauth2' ? { ...result, credential: { ...credential, grantor } } : result;
    },

    async refresh(credential, signal) {
      const granted = grantedOf(credential);
      if (granted === undefined || !isAccepted(granted.grantor)) return foreignCredential();
      const { grantor, tokens } = granted;
      const result = await connectorTo(grantor).refresh(tokens, signal);
      if (result.type === 'failed') {
        // Connecting again does not help if the configured secret is wrong.
        if (!CLIENT_GONE.has(result.providerError ?? '') || configuredFor(grantor) !== undefined)
          return result;
        registration.forget(grantor.clientId);
        return credentialFailure(
          'invalid_grant',
          'the authorization server no longer knows the client',
          result.providerError,
        );
      }
      return result.credential.kind === 'oauth2'
        ? { type: 'refreshed', credential: { ...result.credential, grantor } }
        : result;
    },

    // Credentials obtained under an earlier configuration are revoked as well, at their own server.
    async revoke(credential) {
      const granted = grantedOf(credential);
      return granted === undefined ? 'unsupported' : connectorTo(granted.grantor).revoke(granted.tokens);
    },

    async headersFor(credential) {
      const granted = grantedOf(credential);
      if (granted === undefined || !isAccepted(granted.grantor)) return foreignCredential();
      const { grantor, tokens } = granted;
      const shown = await connectorTo(grantor).headersFor(tokens);
      return shown.type === 'presented' ? { ...shown, scope: tokens.scope ?? '' } : shown;
    },

    // The client must be registered in advance, because the provider of the sign-in knows it by its id.
    ...(grantFor !== undefined &&
      client !== undefined && {
        async obtainFor(owner: Owner, scope?: string) {
          const found = await discover();
          if (found.type === 'failed')
            return credentialFailure(
              found.code === 'unavailable' ? 'unavailable' : 'invalid_grant',
              found.detail,
            );
          return obtainManaged(
            {
              owner,
              found,
              client,
              additional: scopesOfList(scope ?? ''),
              ...options,
              allowLoopbackHttp,
              timeoutMs,
              fetch,
            },
            grantFor,
          );
        },
      }),

    clientMetadata: () =>
      metadataUrl === undefined ? undefined : clientMetadataDocument({ ...options, metadataUrl }),
  };
}
