import { createServer } from 'node:http';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { onTestFinished } from 'vitest';
import {
  createMcpOAuthConnector,
  type McpOAuthOptions,
} from '../../../services/api/src/accounts/connectors/mcp-oauth/mcp-oauth.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { REDIRECT_URI, SCOPES, startServer } from '../../harness/pages/connectors-setup.ts';

const API = { clientId: 'tracker-api', clientSecret: 'api-secret' };

/** A connector with the guard that the product gives it. `onFault` gets the error of each guarded call that failed. */
export function discovering(
  options: Partial<McpOAuthOptions>,
  allowLoopback = true,
  onFault: (error: unknown) => void = () => undefined,
  now?: () => number,
) {
  const guarded = createGuardedFetch({ allowLoopback, timeoutMs: 60_000, responseBytesMax: 256 * 1024 });
  return createMcpOAuthConnector(
    {
      id: 'tracker',
      redirectUri: REDIRECT_URI,
      clientName: 'Parley',
      allowLoopbackHttp: allowLoopback,
      timeoutMs: 60_000,
      ...options,
    },
    {
      guardedFetch: (request) =>
        guarded(request).catch((error: unknown) => {
          onFault(error);
          throw error;
        }),
      ...(now !== undefined && { now }),
    },
  );
}

/** An MCP server of issues, and the authorization server that it names. */
export async function startGuardedTracker({
  scopes = SCOPES,
  bound = false,
  ...options
}: Parameters<typeof startServer>[0] & { readonly bound?: boolean } = {}) {
  const port = await freePort();
  const serverUrl = `http://127.0.0.1:${port}/mcp`;
  const authorization = await startServer({ registration: true, resources: [serverUrl], scopes, ...options });
  const tracker = await startIssueTracker({
    port,
    authorizationServer: authorization.issuer,
    scopes: ['issues:read'],
    bound,
    verify: createTokenVerifier({ issuer: authorization.issuer, ...API, resource: serverUrl }),
  });
  onTestFinished(() => tracker.stop());
  return { serverUrl, authorization, tracker };
}

type Routes = (origin: string) => Readonly<Record<string, OddReply>>;
interface OddReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A server that replies with these documents, and notes what is requested. */
export async function startOddServer(routes: Routes) {
  const requested: string[] = [];
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://odd');
    requested.push(`${req.method} ${pathname}`);
    const { status = 200, headers, body } = routes(origin)[pathname] ?? { status: 404 };
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  const origin = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin, serverUrl: `${origin}/mcp`, requested };
}

/** Where an MCP server says which authorization server it has, and where that one describes itself. */
export const RESOURCE_PATH = '/.well-known/oauth-protected-resource/mcp';
export const SERVER_PATH = '/.well-known/oauth-authorization-server';

export const resourceOf = (origin: string) => ({
  resource: `${origin}/mcp`,
  authorization_servers: [origin],
});
export const metadataOf = (origin: string) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
});
