/**
 * Starts an authorization server for tests and the demo, with invented people. Pages, faults and storage are in the files
 * beside this one.
 */

import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { type ClientMetadata, type Configuration, errors, type JWK, Provider } from 'oidc-provider';
import { acceptAssertions, type CompanyPolicy, issueAssertions, TOKEN_EXCHANGE } from './assertions.ts';
import { createFaults, type ServerFault } from './faults.ts';
import { createPages, sendPage } from './pages.ts';
import { type AuthorizationStore, createAuthorizationStore } from './store.ts';
import { acceptWorkloads, JWT_BEARER, type TrustedPlatform } from './workloads.ts';

interface StandInClient {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** Empty for a resource server, which only asks about tokens. */
  readonly redirectUris: readonly string[];
  /** Present for a client that obtains tokens for itself, with its secret or a key (`private_key_jwt`). */
  readonly machine?: { readonly publicKey?: JWK };
  /** True for a client that authenticates only with the token of its workload. */
  readonly workload?: true;
  /** True for a client that exchanges people's sign-ins for assertions. */
  readonly exchanges?: true;
  /** True for a client that may use the company's assertions, in addition to people's consent. */
  readonly managed?: true;
  /** True if people are signed in without a consent page, as for a company's own pages. */
  readonly firstParty?: boolean;
}

export interface AuthorizationServerOptions {
  /** The name on the pages. */
  readonly name: string;
  /** A port on 127.0.0.1; by default a free one. */
  readonly port?: number;
  /** The people who may sign in, by name. The name is `sub`. There are no passwords. */
  readonly users: readonly string[];
  /** Additional claims of people at the userinfo endpoint, by name: their roles, which clients get with `openid`. */
  readonly roles?: Readonly<Record<string, unknown>>;
  readonly clients: readonly StandInClient[];
  /** Scopes of the APIs that this server guards. */
  readonly scopes?: readonly string[];
  /** APIs that a client may name as `resource` (RFC 8707). */
  readonly resources?: readonly string[];
  /** Binds tokens to the key of a client that proves one (DPoP), with a nonce of the server. */
  readonly bindsTokens?: true;
  /** The platform that signs the tokens of workloads. */
  readonly platform?: TrustedPlatform;
  /** Present for a company's provider, which exchanges sign-ins for assertions. */
  readonly company?: CompanyPolicy;
  /** The issuer of the company whose assertions are accepted. */
  readonly trusts?: string;
  /** True if clients may register themselves (RFC 7591). */
  readonly registration?: boolean;
  /**
   * True if access tokens are JWTs that APIs verify with the server's keys (`/jwks`). By default, APIs ask the server about
   * tokens.
   */
  readonly signsAccessTokens?: boolean;
  /** The lifetime of access tokens in seconds; by default 600. */
  readonly accessTokenSeconds?: number;
  /** How long a consent and an unused refresh token last, in seconds; by default a day. */
  readonly grantSeconds?: number;
}

/** A running stand-in. Its state is lost when it ends. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** How often the token endpoint was called with this grant type, including failures. */
  tokenCalls(
    grantType:
      | 'authorization_code'
      | 'refresh_token'
      | 'client_credentials'
      | typeof JWT_BEARER
      | typeof TOKEN_EXCHANGE,
  ): number;
  /** Ids of grants that were ended because a code or an old refresh token was used a second time. */
  reusedFamilies(): readonly string[];
  /** Ends all access that this user gave, or that this client has for itself. Returns the number of grants. */
  revokeUser(userId: string): number;
  /** Makes an endpoint fail until the returned function is called. */
  misbehave(fault: ServerFault): () => void;
  close(): Promise<void>;
}

const HOUR_SECONDS = 3600;

/**
 * A real OAuth 2.1 and OpenID Connect server (oidc-provider) with invented people. It requires PKCE of every client and sends
 * `iss` in answers. Its refresh tokens rotate, and reusing an old one ends their family.
 */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> {
  const server = createServer();
  const issuer = await listen(server, options.port ?? 0);
  const store = createAuthorizationStore();
  const keys = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, configurationOf(options, store, issuer, keys.privateKey));
  if (options.platform !== undefined) acceptWorkloads(provider, options.platform);
  if (options.company !== undefined) issueAssertions(provider, keys, options.company);
  if (options.trusts !== undefined) acceptAssertions(provider, options.trusts);
  const calls = new Map<string, number>();
  const count = (grantType: string) => void calls.set(grantType, (calls.get(grantType) ?? 0) + 1);

  provider.use(async (ctx, next) => {
    await next();
    const { route, params } = ctx.oidc ?? {};
    if (route === 'token') count(String(params?.grant_type ?? 'none'));
  });
  // A revocation by a client's request takes another path.
  provider.on('grant.revoked', (ctx, grantId) => {
    if (ctx.oidc.route === 'token') store.reusedFamilies.add(grantId);
  });

  const faults = createFaults(() => issuer, count);
  const pages = createPages(provider, options);
  const callback = provider.callback();
  server.on('request', (req, res) => {
    faults
      .handle(req, res)
      .then((outcome) => {
        if (outcome === 'handled') return undefined;
        return req.url?.startsWith('/interaction/') === true ? pages(req, res) : callback(req, res);
      })
      .catch(() => void res.destroy());
  });

  return {
    issuer,
    tokenCalls: (grantType) => calls.get(grantType) ?? 0,
    reusedFamilies: () => [...store.reusedFamilies],
    revokeUser: (userId) => store.revokeUser(userId),
    misbehave: (fault) => faults.set(fault),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function configurationOf(
  options: AuthorizationServerOptions,
  store: AuthorizationStore,
  issuer: string,
  privateKey: KeyObject,
): Configuration {
  const { users, scopes = [], resources = [], accessTokenSeconds = 600 } = options;
  const { grantSeconds = 24 * HOUR_SECONDS } = options;
  const firstParty = new Set(
    options.clients.filter((one) => one.firstParty === true).map((one) => one.clientId),
  );
  // Browsers share cookies between the ports of a host, so two stand-ins must use different names.
  const prefix = `p${new URL(issuer).port}`;

  return {
    adapter: store.adapter,
    clients: options.clients.map(clientMetadataOf),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'stand-in' }] },
    scopes: ['openid', 'offline_access', ...scopes],
    claims: { openid: ['sub', 'name', 'roles'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) =>
      users.includes(id)
        ? { accountId: id, claims: async () => ({ sub: id, name: id, roles: options.roles?.[id] }) }
        : undefined,
    clientBasedCORS: () => false,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    // Each connection has its own grant, so revoking one does not affect the others.
    async loadExistingGrant(ctx) {
      const grantId = ctx.oidc.result?.consent?.grantId;
      if (grantId !== undefined) return ctx.oidc.provider.Grant.find(grantId);
      const { client, session } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined || !firstParty.has(client.clientId))
        return undefined;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope([...ctx.oidc.requestParamScopes].join(' '));
      await grant.save();
      return grant;
    },
    cookies: {
      keys: [randomBytes(24).toString('hex')],
      names: {
        session: `${prefix}_session`,
        interaction: `${prefix}_interaction`,
        resume: `${prefix}_resume`,
      },
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      Grant: grantSeconds,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: grantSeconds,
      Session: 24 * HOUR_SECONDS,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: {
        enabled: options.bindsTokens === true,
        nonceSecret: randomBytes(32),
        requireNonce: () => true,
      },
      rpInitiatedLogout: { enabled: false },
      registration: { enabled: options.registration === true },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx, client) => client.clientAuthMethod !== 'none',
      },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => client.clientId === token.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) => oneOf ?? [],
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, resource) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(' '),
            audience: resource,
            accessTokenTTL: accessTokenSeconds,
            accessTokenFormat: options.signsAccessTokens === true ? 'jwt' : 'opaque',
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
    renderError: (ctx, { error }) => {
      ctx.respond = false;
      sendPage(
        ctx.res,
        ctx.status,
        options.name,
        `<h1>That did not work</h1><p>${error.replace(/\W/gu, ' ')}</p>`,
      );
    },
  };
}

function clientMetadataOf({
  clientId,
  clientSecret,
  redirectUris,
  machine,
  workload,
  exchanges,
  managed,
}: StandInClient): ClientMetadata {
  const isApi = redirectUris.length === 0;
  const { publicKey } = machine ?? {};
  const method = clientSecret === undefined ? 'none' : 'client_secret_basic';
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    token_endpoint_auth_method: publicKey === undefined ? method : 'private_key_jwt',
    ...(publicKey !== undefined && { jwks: { keys: [publicKey] } }),
    redirect_uris: [...redirectUris],
    response_types: isApi ? [] : ['code'],
    grant_types: [
      ...(isApi ? [] : ['authorization_code', 'refresh_token']),
      ...(machine === undefined ? [] : ['client_credentials']),
      ...(workload === undefined && managed === undefined ? [] : [JWT_BEARER]),
      ...(exchanges === undefined ? [] : [TOKEN_EXCHANGE]),
    ],
  };
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
