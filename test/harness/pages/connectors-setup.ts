import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Connected, Connector, Redirect } from '../../../services/api/src/accounts/connector.ts';
import { createOAuth2Connector } from '../../../services/api/src/accounts/connectors/oauth2.ts';
import type { OAuth2Options } from '../../../services/api/src/accounts/oauth/oauth2-options.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import { canary } from '../canary.ts';
import { listenOnFreePort } from '../free-port.ts';
import { CONTEXT } from './sightings.ts';

export const REDIRECT_URI = 'http://127.0.0.1:9/auth/callback/tracker';
export const RESOURCE = 'http://127.0.0.1:9/mcp';
export const SCOPES = ['issues:read', 'issues:write'];
export const CLIENT = { clientId: 'parley', clientSecret: canary('client-secret') };
/** A client without a secret. */
export const PUBLIC_CLIENT = 'public';
const API = { clientId: 'tracker-api', clientSecret: 'api-secret' };

/** A tracker's authorization server that ends with the test. */
export async function startServer(
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({
    name: 'Tracker',
    users: ['ada', 'bob'],
    scopes: SCOPES,
    resources: [RESOURCE],
    clients: [
      { ...CLIENT, redirectUris: [REDIRECT_URI] },
      { clientId: PUBLIC_CLIENT, redirectUris: [REDIRECT_URI] },
      { ...API, redirectUris: [] },
    ],
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

/** A connector to that server; `options` say what is special. */
export function connectorTo(
  server: Pick<AuthorizationServer, 'issuer'>,
  options: Partial<OAuth2Options> = {},
): Connector {
  return createOAuth2Connector({
    id: 'tracker',
    server: { issuer: server.issuer },
    ...(options.clientId === PUBLIC_CLIENT ? { clientId: PUBLIC_CLIENT } : CLIENT),
    scopes: SCOPES,
    redirectUri: REDIRECT_URI,
    allowLoopbackHttp: true,
    // A provider on a busy machine may take its time.
    timeoutMs: 60_000,
    ...options,
  });
}

/** What the tracker's API would say about a token. */
export function tokenVerifier({ issuer }: AuthorizationServer, resource?: string) {
  return createTokenVerifier({ issuer, ...API, ...(resource !== undefined && { resource }) });
}

/** A reply of some token endpoint. */
export interface OddReply {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when it is a text, else as JSON. */
  readonly body?: unknown;
}

/** A server that sends the same reply to each call until the test ends, and a connector that knows its endpoints. */
export async function startOddReplies(reply: OddReply) {
  const calls: string[] = [];
  const server = createServer((req, res) => {
    const { status = 200, headers = {}, body } = reply;
    calls.push(req.url ?? '');
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const issuer = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => void server.close());
  return { issuer, calls, connector: connectorTo({ issuer }, { server: endpointsOf({ issuer }) }) };
}

/** Begins a flow and returns from the provider with a code. */
export async function finishWithCode(connector: Connector) {
  const { callbackState, state } = await begin(connector);
  return connector.finish({ type: 'callback', url: `/cb?code=c&state=${state}` }, callbackState);
}

/** Begins a flow that must lead to a provider. */
export async function begin(connector: Connector): Promise<Redirect> {
  const begun = await connector.begin(CONTEXT);
  if (begun.type !== 'redirect') throw new Error(`expected a redirect: ${inspect(begun)}`);
  return begun;
}

/** Begins a flow and goes through the provider's pages; returns the callback that came of it. */
export async function walk(connector: Connector, user = 'ada', consent: 'accept' | 'refuse' = 'accept') {
  const begun = await begin(connector);
  const callback = await walkSignIn({ url: begun.url, user, consent });
  return {
    begun,
    callbackState: begun.callbackState,
    callback,
    input: { type: 'callback', url: callback } as const,
  };
}

/** A whole flow that must end well. */
export async function connect(connector: Connector, user = 'ada'): Promise<Connected> {
  const { input, callbackState } = await walk(connector, user);
  return expectConnected(await connector.finish(input, callbackState));
}

export function expectConnected(result: Awaited<ReturnType<Connector['finish']>>): Connected {
  if (result.type !== 'connected') throw new Error(`expected a credential: ${inspect(result)}`);
  return result;
}

/** The OAuth credential of a flow that ended well, with the tokens that must be there. */
export function tokensOf({ credential }: Pick<Connected, 'credential'>) {
  if (credential.kind !== 'oauth2' || credential.refreshToken === undefined)
    throw new Error('expected an access token and a refresh token');
  return { ...credential, refreshToken: credential.refreshToken };
}

/** A configuration that names the endpoints of a server, which is then not asked for them. */
export function endpointsOf({ issuer }: Pick<AuthorizationServer, 'issuer'>) {
  return { issuer, authorizationEndpoint: `${issuer}/auth`, tokenEndpoint: `${issuer}/token` };
}

/** Changes one parameter of a callback; `undefined` takes it away. */
export function tampered(callback: string, name: string, value: string | undefined): string {
  const url = new URL(callback);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
}
