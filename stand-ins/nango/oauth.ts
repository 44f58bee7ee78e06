import { createHash, randomBytes } from 'node:crypto';
import type { StoredTokens } from './store.ts';

/** An OAuth client in whose name the stand-in for Nango acts. */
export interface NangoIntegration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
}

export interface Authorization {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

interface Endpoints {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
}

/** The address to which the browser is sent, and the state to keep until it returns. */
export async function beginOAuth(integration: NangoIntegration, redirectUri: string): Promise<Authorization> {
  const { authorization_endpoint } = await endpointsOf(integration);
  const state = randomBytes(24).toString('hex');
  const verifier = randomBytes(48).toString('base64url');
  const url = new URL(authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: integration.clientId,
    redirect_uri: redirectUri,
    scope: integration.scopes.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  return { url: url.href, state, verifier };
}

/** Exchanges a code or a refresh token at the token endpoint. Rejects if it returns no token. */
export async function requestTokens(
  integration: NangoIntegration,
  grant: Readonly<Record<string, string>>,
): Promise<StoredTokens> {
  const { token_endpoint } = await endpointsOf(integration);
  const secret = Buffer.from(`${integration.clientId}:${integration.clientSecret}`).toString('base64');
  const response = await fetch(token_endpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${secret}` },
    body: new URLSearchParams(grant),
  });
  const tokens = (await response.json()) as {
    access_token?: string;
    refresh_token?: string;
    expires_in?: number;
  };
  if (tokens.access_token === undefined)
    throw new Error(`the token endpoint answered with ${response.status}`);
  const { access_token: accessToken, refresh_token, expires_in } = tokens;
  const expiresAt =
    expires_in === undefined ? undefined : new Date(Date.now() + expires_in * 1000).toISOString();
  return { accessToken, refreshToken: refresh_token ?? grant.refresh_token, expiresAt };
}

async function endpointsOf({ issuer }: NangoIntegration): Promise<Endpoints> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  return (await response.json()) as Endpoints;
}
