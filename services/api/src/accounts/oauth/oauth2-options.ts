import { faultOfUrl } from '@parley/core/domain/url';
import type { BoundedFetch } from './bounded-fetch.ts';

/** The endpoints of an authorization server that publishes no metadata. */
export interface StaticServer {
  /** The server's `iss`. If absent, `iss` is not checked, and the scope `openid` cannot be requested. */
  readonly issuer?: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  /** The server sends `iss` with every authorization response (RFC 9207). A response without `iss` is refused. */
  readonly sendsIssuer?: boolean;
  /** Algorithms of its ID tokens; RS256 when absent. */
  readonly idTokenAlgorithms?: readonly string[];
}

export interface OAuth2Options {
  readonly id: string;
  /** An issuer whose metadata is fetched and cached, or the endpoints. */
  readonly server: { readonly issuer: string } | StaticServer;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** How the secret is sent. By default, the server's metadata decides. */
  readonly clientAuthentication?: 'basic' | 'post';
  readonly scopes: readonly string[];
  /** The API that the token is for (RFC 8707). */
  readonly resource?: string;
  /** Registered at the provider for this connector alone, which is how providers without `iss` are told apart. */
  readonly redirectUri: string;
  /** Additional parameters of the authorization request, such as `access_type`. Parameters of the protocol take precedence. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
  /** For each call to the server, ms; 10 s by default. */
  readonly timeoutMs?: number;
  /** Calls the server; by default, a fetch for servers that the deployer configured. */
  readonly fetch?: BoundedFetch;
  /** How long discovered metadata is used, ms; an hour by default. */
  readonly metadataTtlMs?: number;
}

/** Throws a `TypeError` for options with which no flow can be safe or succeed. The message contains no secret. */
export function checkOAuth2Options(options: OAuth2Options): void {
  const rules = { allowLoopbackHttp: options.allowLoopbackHttp === true };
  const { server } = options;
  const urls: [string, string | undefined][] = [
    ['issuer', server.issuer],
    ['redirectUri', options.redirectUri],
  ];
  if ('tokenEndpoint' in server) {
    urls.push(['authorizationEndpoint', server.authorizationEndpoint]);
    urls.push(['tokenEndpoint', server.tokenEndpoint], ['revocationEndpoint', server.revocationEndpoint]);
  }
  for (const [name, url] of urls) {
    const fault = url === undefined ? undefined : faultOfUrl(url, rules);
    if (fault !== undefined) throw new TypeError(`connector ${options.id}: ${name} ${fault}`);
  }
  const redirect = new URL(options.redirectUri);
  if (redirect.search !== '' || redirect.hash !== '')
    throw new TypeError(`connector ${options.id}: redirectUri must have neither query nor fragment`);
  if (server.issuer === undefined && options.scopes.includes('openid'))
    throw new TypeError(`connector ${options.id}: the scope openid needs an issuer`);
}
