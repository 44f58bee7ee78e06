import type { Owner } from '@parley/core/domain/ids';
import { genericGrantRequest } from 'openid-client';
import { type CredentialFailure, credentialFailure, type Refreshed } from '../../connector.ts';
import type { GrantFor } from '../../managed/sign-ins.ts';
import type { BoundedFetch } from '../../oauth/bounded-fetch.ts';
import { faultOf } from '../../oauth/oauth2-errors.ts';
import { createServerSource } from '../../oauth/oauth2-server.ts';
import { credentialOf, JWT_BEARER } from '../../oauth/oauth2-tokens.ts';
import { createProofKey, provingWith } from '../../oauth/proof-key.ts';
import type { Discovered } from './discover.ts';
import { challengedScopes, isBound, serverOf } from './grantor.ts';
import type { RegisteredClient } from './register.ts';

/** For whom and where tokens are requested. */
interface ManagedRequest {
  readonly owner: Owner;
  readonly found: Discovered;
  readonly client: RegisteredClient;
  /** As `McpOAuthOptions.scopes`. */
  readonly scopes?: readonly string[];
  /** Scopes to request in addition. */
  readonly additional: readonly string[];
  readonly allowLoopbackHttp: boolean;
  readonly timeoutMs: number;
  readonly fetch: BoundedFetch;
}

/**
 * Obtains tokens by a person's company sign-in (MCP extension `io.modelcontextprotocol/enterprise-managed-authorization`). The
 * provider of the sign-in issues an assertion, which is the grant at the authorization server (RFC 7523). There is no refresh
 * token: a new assertion obtains the next tokens.
 */
export async function obtainManaged(
  { owner, found, client, scopes: configured, additional, ...http }: ManagedRequest,
  grantFor: GrantFor,
): Promise<Refreshed | CredentialFailure> {
  const grantor = { ...serverOf(found), clientId: client.clientId };
  const { issuer: audience, authorizationEndpoint, tokenEndpoint, resource } = grantor;
  const scopes = [...new Set([...challengedScopes(found, configured), ...additional])];
  const granted = await grantFor(owner, { audience, resource, clientId: client.clientId, scopes });
  if (granted.type === 'failed') return granted;
  const described = { issuer: audience, authorizationEndpoint, tokenEndpoint };
  const server = await createServerSource({ server: described, ...client, ...http })();
  const bound = isBound(found) && { proofKey: await createProofKey() };
  const proofKey = bound ? bound.proofKey : undefined;
  try {
    const parameters = { assertion: granted.assertion, resource };
    const proving = await provingWith(server, proofKey);
    const tokens = await genericGrantRequest(server, JWT_BEARER, parameters, proving);
    const credential = credentialOf(tokens, { scopes, nowMs: Date.now(), ...bound });
    if (credential === undefined)
      return credentialFailure('invalid_grant', 'the token is not one to present');
    const { refreshToken: _, ...rest } = credential;
    return { type: 'refreshed', credential: { ...rest, grantor, managed: true } };
  } catch (error) {
    const { kind, providerError } = faultOf(error);
    return kind === 'unavailable'
      ? credentialFailure('unavailable', 'no token came for the assertion', providerError)
      : credentialFailure('invalid_grant', `the assertion is not accepted (${kind})`, providerError);
  }
}
