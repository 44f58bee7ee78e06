/**
 * The connector for the project's own credential at an MCP server's authorization server. People's credentials are obtained in
 * `mcp-oauth/`, signed assertions are made in `private-key-jwt.ts`.
 */

import type { Credential } from '@parley/shared/domain/credential';
import { scopesOfList } from '@parley/shared/domain/oauth/scopes';
import type { GuardedFetch } from '@parley/shared/ports/delivery/guarded-fetch';
import { type Configuration, clientCredentialsGrant, genericGrantRequest } from 'openid-client';
import {
  type ConnectorFailure,
  type CredentialFailure,
  credentialFailure,
  foreignCredential,
  type ProjectConnector,
  type Refreshed,
} from '../../connector.ts';
import { faultOf, metadataFaultOf } from '../../oauth/oauth2-errors.ts';
import { createServerSource } from '../../oauth/oauth2-server.ts';
import { credentialOf, JWT_BEARER } from '../../oauth/oauth2-tokens.ts';
import { isHeaderSafe } from '../../oauth/secret-text.ts';
import { type DiscoveredResource, discoverResource, isFor, isSameIssuer } from '../mcp-oauth/discover.ts';
import { createServerFetch } from '../mcp-oauth/fetch.ts';
import { type AssertionKey, signingWith } from './private-key-jwt.ts';

/** How the client authenticates. */
export type ClientProof =
  | { readonly type: 'secret'; readonly secret: string; readonly method?: 'basic' | 'post' }
  | ({ readonly type: 'key' } & AssertionKey)
  /** The assertion of the workload's platform (JWT bearer grant, RFC 7523). It is read again for each request. */
  | { readonly type: 'workload'; readonly readToken: () => Promise<string> };

export interface ClientCredentialsOptions {
  /** The MCP server that the tokens are for. */
  readonly serverUrl: string;
  /** The only authorization server to which the client authenticates. */
  readonly issuer: string;
  readonly clientId: string;
  readonly proof: ClientProof;
  /** Scopes to request, whatever the server asks for. By default: the scopes of its challenge, or else all that it lists. */
  readonly scopes?: readonly string[];
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
  /** For each call, ms; 10 s by default. */
  readonly timeoutMs?: number;
}

interface ClientCredentialsDeps {
  /** Calls addresses that an MCP server chose. */
  readonly guardedFetch: GuardedFetch;
  /** Milliseconds on a clock that never goes back; by default, `performance.now`. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 10_000;
/** How long the same failure is told to all calls, so that calls of tools do not become as many failed logins. */
const PAUSE_MS = { invalid_grant: 10_000, unavailable: 2_000 } as const;

/**
 * Obtains tokens as the project's own client at the authorization server of an MCP server (`client_credentials`, MCP extension
 * `io.modelcontextprotocol/oauth-client-credentials`), or with the identity of its workload
 * (`io.modelcontextprotocol/auth/wif`). The MCP server must name the configured issuer. The tokens are valid for that MCP
 * server only.
 */
export function createClientCredentials(
  options: ClientCredentialsOptions,
  { guardedFetch, now = () => performance.now() }: ClientCredentialsDeps,
): ProjectConnector {
  const { serverUrl, issuer, clientId, scopes, proof } = options;
  const allowLoopbackHttp = options.allowLoopbackHttp === true;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const fetch = createServerFetch({ trusted: [serverUrl, issuer], timeoutMs, guardedFetch });
  const source = createServerSource({
    server: { issuer },
    clientId,
    fetch,
    timeoutMs,
    allowLoopbackHttp,
    withoutPages: true,
    ...authenticationOf(proof),
  });
  let paused: { readonly failure: CredentialFailure; readonly until: number } | undefined;
  /** Scopes that the server demanded in addition to the configured ones. */
  let widened: readonly string[] = [];

  async function obtain(
    signal: AbortSignal,
    additional: readonly string[],
  ): Promise<Refreshed | CredentialFailure> {
    const found = await discoverResource({ serverUrl, issuer, fetch, timeoutMs });
    if (found.type === 'failed') return failureOf(found);
    const server = await source().catch(metadataFailure);
    if ('detail' in server) return server;
    if (signal.aborted) return credentialFailure('unavailable', 'the metadata came too late');
    return request(server, found, additional);
  }

  async function request(
    server: Configuration,
    { resource, challenged, listed = [] }: DiscoveredResource,
    additional: readonly string[],
  ): Promise<Refreshed | CredentialFailure> {
    const assertion = proof.type === 'workload' ? await proof.readToken().catch(() => '') : undefined;
    if (assertion === '') return credentialFailure('unavailable', 'the token of the workload cannot be read');
    // No person sees what is requested, so a server must not widen the scopes that the deployer chose.
    const wanted = scopes ?? [...new Set([...(challenged ?? listed), ...additional])];
    const parameters = { resource, ...(wanted.length > 0 && { scope: wanted.join(' ') }) };
    try {
      const tokens =
        assertion === undefined
          ? await clientCredentialsGrant(server, parameters)
          : await genericGrantRequest(server, JWT_BEARER, { ...parameters, assertion });
      const credential = credentialOf(tokens, { scopes: wanted, nowMs: Date.now() });
      if (credential === undefined)
        return credentialFailure('invalid_grant', 'the token is not one to present');
      // RFC 6749, section 4.4.3: servers should send no refresh token here, and the client can authenticate again without one.
      const { refreshToken: _, ...rest } = credential;
      return { type: 'refreshed', credential: { ...rest, obtained: { issuer, clientId, resource } } };
    } catch (error) {
      const { kind, providerError, isDefinite } = faultOf(error);
      return kind === 'refused' || isDefinite
        ? credentialFailure('invalid_grant', 'the authorization server refuses the client', providerError)
        : credentialFailure('unavailable', `no token came (${kind})`, providerError);
    }
  }

  return {
    async obtain(signal, scope) {
      const additional = scope === undefined ? widened : [...new Set([...widened, ...scopesOfList(scope)])];
      if (scope === undefined && paused !== undefined && now() < paused.until) return paused.failure;
      const result = await obtain(signal, additional);
      if (result.type === 'refreshed') widened = additional;
      else if (scope === undefined) {
        paused = { failure: result, until: now() + PAUSE_MS[result.code] };
        // The additional scopes may be the reason for the refusal, so the next request omits them.
        if (result.code === 'invalid_grant') widened = [];
      }
      return result;
    },
    async headersFor(credential) {
      if (!isOwn(credential, options)) return foreignCredential();
      const { accessToken, scope = '' } = credential;
      return {
        type: 'presented',
        headers: { authorization: `Bearer ${accessToken}` },
        ...(scopes === undefined && { scope }),
      };
    },
  };
}

/** False once the configuration names another MCP server, authorization server or client. */
function isOwn(
  credential: Credential,
  { serverUrl, issuer, clientId }: ClientCredentialsOptions,
): credential is Extract<Credential, { kind: 'oauth2' }> {
  if (credential.kind !== 'oauth2' || credential.obtained === undefined) return false;
  const { accessToken, obtained } = credential;
  return (
    isHeaderSafe(accessToken) &&
    obtained.clientId === clientId &&
    isSameIssuer(obtained.issuer, issuer) &&
    isFor(serverUrl, obtained.resource)
  );
}

function authenticationOf(proof: ClientProof) {
  if (proof.type === 'key') return { clientAuth: signingWith(proof) };
  if (proof.type === 'workload') return {};
  const { secret, method } = proof;
  return { clientSecret: secret, ...(method !== undefined && { clientAuthentication: method }) };
}

function failureOf({ code, detail }: ConnectorFailure): CredentialFailure {
  return credentialFailure(code === 'unavailable' ? 'unavailable' : 'invalid_grant', detail);
}

function metadataFailure(error: unknown): CredentialFailure {
  const { isOtherIssuer, what } = metadataFaultOf(error);
  const detail = `the metadata of the authorization server ${what}`;
  return credentialFailure(isOtherIssuer ? 'invalid_grant' : 'unavailable', detail);
}
