/** Discovers and caches an authorization server for openid-client. The flows that use it are in `connectors/`. */

import { faultOfUrl } from '@parley/core/domain/url';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientError,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import { createBoundedFetch, OutboundError } from './bounded-fetch.ts';
import { createCached } from './cached.ts';
import type { OAuth2Options, StaticServer } from './oauth2-options.ts';
import { readingProviders } from './provider-reply.ts';

const RESPONSE_BYTES_MAX = 512 * 1024;
const TIMEOUT_MS = 10_000;
const METADATA_TTL_MS = 60 * 60_000;

/** An authorization server, and Parley as its client. */
type ServerSourceOptions = Pick<
  OAuth2Options,
  | 'server'
  | 'clientId'
  | 'clientSecret'
  | 'clientAuthentication'
  | 'allowLoopbackHttp'
  | 'timeoutMs'
  | 'fetch'
  | 'metadataTtlMs'
> & {
  /** Authenticates the client without a secret. */
  readonly clientAuth?: ClientAuth;
  /** True where no person is sent to the server, so that it needs no authorization endpoint. */
  readonly withoutPages?: true;
  /** True where the ID token is the purpose of a refresh. */
  readonly renewsIdTokens?: true;
};

/**
 * The configured authorization server for openid-client: discovered at the first use, cached, and discovered again after a
 * failure. Rejects while the server's metadata is unavailable.
 */
export function createServerSource(options: ServerSourceOptions): () => Promise<Configuration> {
  const allowLoopbackHttp = options.allowLoopbackHttp === true;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const readingFetch = readingProviders(
    options.fetch ??
      createBoundedFetch({ timeoutMs, allowLoopbackHttp, responseBytesMax: RESPONSE_BYTES_MAX }),
    options.renewsIdTokens,
  );
  const fetchIt = (url: string, init: object) => readingFetch(url, init as RequestInit);
  const clientAuth = options.clientAuth ?? clientAuthOf(options);
  const { server, clientId } = options;

  if ('tokenEndpoint' in server) {
    const configuration = new Configuration(metadataOf(server), clientId, undefined, clientAuth);
    configuration[customFetch] = fetchIt;
    // The bounded fetch decides which URLs may use http. The authorization endpoint was checked before.
    if (allowLoopbackHttp) allowInsecureRequests(configuration);
    return () => Promise.resolve(configuration);
  }

  const issuer = new URL(server.issuer);
  async function discover(algorithm: 'oidc' | 'oauth2'): Promise<Configuration> {
    const found = await discovery(issuer, clientId, undefined, clientAuth, {
      algorithm,
      [customFetch]: fetchIt,
      execute: allowLoopbackHttp ? [allowInsecureRequests] : [],
    });
    checkEndpoints(found.serverMetadata(), allowLoopbackHttp, options.withoutPages === true);
    return found;
  }

  const load = () =>
    discover('oidc').catch((error: unknown) => {
      // Servers without OpenID Connect publish their metadata at the address of RFC 8414.
      if (error instanceof ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
        return discover('oauth2');
      throw error;
    });
  return createCached(load, {
    ttlMs: options.metadataTtlMs ?? METADATA_TTL_MS,
    now: () => performance.now(),
  });
}

function metadataOf(server: StaticServer): ServerMetadata {
  return {
    // A server without a name gets one that is never compared with an answer.
    issuer: server.issuer ?? new URL(server.authorizationEndpoint).origin,
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    ...(server.revocationEndpoint !== undefined && { revocation_endpoint: server.revocationEndpoint }),
    ...(server.idTokenAlgorithms !== undefined && {
      id_token_signing_alg_values_supported: [...server.idTokenAlgorithms],
    }),
    authorization_response_iss_parameter_supported:
      server.sendsIssuer === true && server.issuer !== undefined,
  };
}

function checkEndpoints(
  metadata: Readonly<ServerMetadata>,
  allowLoopbackHttp: boolean,
  withoutPages: boolean,
): void {
  const { authorization_endpoint, token_endpoint, revocation_endpoint } = metadata;
  const pages = withoutPages ? [] : [authorization_endpoint ?? ''];
  for (const url of [...pages, token_endpoint ?? '', revocation_endpoint]) {
    if (url !== undefined && faultOfUrl(url, { allowLoopbackHttp }) !== undefined)
      throw new OutboundError('refused_url');
  }
}

function clientAuthOf({ clientSecret, clientAuthentication }: ServerSourceOptions): ClientAuth {
  if (clientSecret === undefined) return None();
  const basic = basicAuthentication(clientSecret);
  const post = ClientSecretPost(clientSecret);
  if (clientAuthentication !== undefined) return clientAuthentication === 'basic' ? basic : post;
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported;
    // RFC 8414: a server that lists no method accepts `client_secret_basic`.
    const chosen = methods?.includes('client_secret_post') === true ? post : basic;
    return chosen(server, client, body, headers);
  };
}

/**
 * HTTP Basic with form-encoded id and secret (RFC 6749, section 2.3.1). It encodes no more than the format requires, because
 * servers that do not decode are common. openid-client would also encode `-`, `_` and `.`.
 */
function basicAuthentication(clientSecret: string): ClientAuth {
  const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return (_server, { client_id: clientId }, _body, headers) => {
    const pair = `${encoded(clientId)}:${encoded(clientSecret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}
