import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import { createRoundRobin, type RoundRobin } from '../../harness/http/round-robin.ts';
import { type McpSite, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { hasStacks, loadStack } from '../../harness/stacks/packages.ts';

const RETURN = 'http://127.0.0.1:9/return';
/** The stand-in grants nothing to who asks for nothing. */
const SCOPE = 'agents';

/** What a client keeps of its sign-in, in the interface that the clients of MCP share. */
function createProvider() {
  const kept: { client?: object; tokens?: object; verifier?: string; page?: URL; discovery?: object } = {};
  const keep = (more: typeof kept) => void Object.assign(kept, more);
  return {
    kept,
    redirectUrl: RETURN,
    clientMetadata: {
      client_name: 'Stock',
      redirect_uris: [RETURN],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: SCOPE,
    },
    clientInformation: () => kept.client as never,
    saveClientInformation: (client: object) => keep({ client }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens: object) => keep({ tokens }),
    codeVerifier: () => kept.verifier ?? '',
    saveCodeVerifier: (verifier: string) => keep({ verifier }),
    discoveryState: () => kept.discovery as never,
    saveDiscoveryState: (discovery: object) => keep({ discovery }),
    redirectToAuthorization: (page: URL) => keep({ page }),
  };
}

interface SigningIn {
  /** Rejects where it is refused. */
  connect(): Promise<unknown>;
  /** Takes what the person came back with. */
  finish(back: URLSearchParams): Promise<unknown>;
  /** Of a client that is connected. */
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  close(): Promise<void>;
}

type Provider = ReturnType<typeof createProvider>;
const INFO = { name: 'stock', version: '1.0.0' };

interface AiSdk {
  createMCPClient(config: object): Promise<Omit<SigningIn, 'connect' | 'finish'>>;
  auth(provider: Provider, options: object): Promise<unknown>;
}

/** The clients, each with a new connection. */
const CLIENTS: Readonly<Record<string, (url: URL, provider: Provider) => Promise<SigningIn>>> = {
  async v1(url, authProvider) {
    const client = new OldClient(INFO);
    const transport = new OldTransport(url, { authProvider });
    return {
      // The transport of this package does not fit its own interface under exactOptionalPropertyTypes.
      connect: () => client.connect(transport as Parameters<OldClient['connect']>[0]),
      finish: (back) => transport.finishAuth(back.get('code') ?? ''),
      listTools: () => client.listTools(),
      close: () => client.close(),
    };
  },
  async v2(url, authProvider) {
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    return {
      connect: () => client.connect(transport),
      finish: (back) => transport.finishAuth(back),
      listTools: () => client.listTools(),
      close: () => client.close(),
    };
  },
  ...(hasStacks() && {
    async '@ai-sdk/mcp'(url, authProvider) {
      const { createMCPClient, auth } = await loadStack<AiSdk>('@ai-sdk/mcp');
      const transport = { type: 'http', url: url.href, authProvider };
      let client: Omit<SigningIn, 'connect' | 'finish'> | undefined;
      return {
        async connect() {
          client = await createMCPClient({ transport });
        },
        finish: (back) =>
          auth(authProvider, {
            serverUrl: url,
            authorizationCode: back.get('code'),
            callbackIssuer: back.get('iss'),
          }),
        listTools: async () => (await client?.listTools()) ?? { tools: [] },
        close: async () => client?.close(),
      };
    },
  }),
};

let balancer: RoundRobin;
let issuer: AuthorizationServer;
let site: McpSite;
let url: URL;
beforeAll(async () => {
  balancer = await createRoundRobin({ targets: [], pick: 'random', healthPath: false });
  url = new URL(`${balancer.url}/run/v1/mcp`);
  issuer = await startAuthorizationServer({
    name: 'Company',
    users: ['ada'],
    clients: [],
    resources: [url.href],
    scopes: [SCOPE],
    registration: true,
    signsAccessTokens: true,
  });
  const verify = createTokenVerifier({
    jwksUrl: `${issuer.issuer}/jwks`,
    issuer: issuer.issuer,
    audience: url.href,
    tenants: ['default'],
    userClaim: 'sub',
  });
  site = await openMcpSite({
    resource: { url: url.href, issuer: issuer.issuer },
    authenticate: createAuthenticate({ serviceKeys: [], verify }),
  });
  await balancer.setTargets(site.pods.map((pod) => pod.url));
});
afterAll(async () => {
  await site?.stop();
  await balancer?.close();
  await issuer?.close();
});

it.each(Object.entries(CLIENTS))(
  'the client %s finds where its person signs in, and calls with what they bring back',
  async (_name, open) => {
    const provider = createProvider();
    const refused = await open(url, provider);
    await expect(refused.connect()).rejects.toThrow('Unauthorized');
    const page = provider.kept.page?.href ?? '';
    expect(page).toContain(issuer.issuer);
    const back = await walkSignIn({ url: page, user: 'ada', stopAt: (at) => at.startsWith(RETURN) });
    await refused.finish(new URL(back).searchParams);
    const client = await open(url, provider);
    await client.connect();
    expect((await client.listTools()).tools).toMatchObject([{ name: 'helper' }]);
    await client.close();
  },
);
