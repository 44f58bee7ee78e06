/**
 * Finds the authorization server of an MCP server, and checks that each document is about the expected server. Registering
 * there is in `register.ts`, the flow in `mcp-oauth.ts`.
 */

import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  IssuerMismatchError,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { faultOfUrl } from '@parley/core/domain/url';
import { scopesOfList } from '@parley/shared/domain/oauth/scopes';
import { type ConnectorFailure, failure } from '../../connector.ts';
import { type BoundedFetch, OutboundError } from '../../oauth/bounded-fetch.ts';
import { PROOF_ALGORITHM } from '../../oauth/proof-key.ts';
import { readChallenge } from './challenge.ts';
import { asFetchLike } from './fetch.ts';

interface DiscoveryOptions {
  readonly serverUrl: string;
  /** The only authorization server to accept; by default, the first that the server names. */
  readonly issuer: string | undefined;
  readonly fetch: BoundedFetch;
  readonly allowLoopbackHttp: boolean;
  readonly timeoutMs: number;
}

/** The facts that an MCP server publishes about its authorization. */
export interface DiscoveredResource {
  readonly type: 'resource';
  /** The identifier of the MCP server at the authorization server, exactly as published (RFC 8707). */
  readonly resource: string;
  /** The authorization server to use, as the server names it. */
  readonly issuer: string;
  /** True where the server takes tokens that are bound to a key (DPoP). */
  readonly takesBound: boolean;
  /** Scopes of the server's challenge; absent where it names none. */
  readonly challenged?: readonly string[];
  /** Scopes that the server lists; absent where it lists none. */
  readonly listed?: readonly string[];
}

/** The authorization server of an MCP server. */
export interface Discovered extends Omit<DiscoveredResource, 'type' | 'issuer'> {
  readonly type: 'discovered';
  readonly metadata: AuthorizationServerMetadata;
}

/**
 * Reads the challenge of an MCP server and its protected-resource metadata (RFC 9728). Checks that the metadata is about this
 * server.
 */
export async function discoverResource(
  options: Omit<DiscoveryOptions, 'allowLoopbackHttp'>,
): Promise<DiscoveredResource | ConnectorFailure> {
  const { serverUrl, timeoutMs } = options;
  const fetchFn = asFetchLike(options.fetch);
  const challenge = await readChallenge(serverUrl, timeoutMs);
  const resourcePlaces = createPlaces(fetchFn);
  try {
    const resource = await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      challenge,
      // A server that names the address in its challenge must serve the metadata there, so the well-known addresses are not
      // tried.
      challenge.resourceMetadataUrl === undefined ? resourcePlaces.fetchFn : fetchFn,
    );
    if (!isFor(serverUrl, resource.resource))
      return failure('provider_error', 'the protected-resource metadata is for another resource');
    const issuer = issuerOf(resource, options.issuer);
    if (issuer === undefined)
      return failure('provider_error', 'the server names no authorization server that may be used');
    const challenged = scopesOfList(challenge.scope ?? '');
    return {
      type: 'resource',
      resource: resource.resource,
      issuer,
      takesBound:
        challenge.takesBound === true ||
        resource.dpop_bound_access_tokens_required === true ||
        resource.dpop_signing_alg_values_supported?.includes(PROOF_ALGORITHM) === true,
      ...(challenged.length > 0 && { challenged }),
      ...(resource.scopes_supported !== undefined && {
        listed: scopesOfList(resource.scopes_supported.join(' ')),
      }),
    };
  } catch (error) {
    return resourcePlaces.isDown() ? failure('unavailable', 'the metadata cannot be had') : failureOf(error);
  }
}

/**
 * Discovers the authorization server as the MCP specification prescribes: the challenge, the protected-resource metadata, then
 * the metadata of the authorization server (RFC 8414, or OpenID Connect). Checks that each document is about the expected
 * server.
 */
export async function discoverServer(options: DiscoveryOptions): Promise<Discovered | ConnectorFailure> {
  const resource = await discoverResource(options);
  if (resource.type === 'failed') return resource;
  const { issuer, ...found } = resource;
  try {
    const places = createPlaces(asFetchLike(options.fetch));
    const metadata = await discoverAs(issuer, places.fetchFn);
    if (metadata === undefined)
      return places.isDown()
        ? failure('unavailable', 'the metadata cannot be had')
        : failure('provider_error', 'the authorization server publishes no metadata');
    const fault = faultOf(metadata, options);
    if (fault !== undefined) return failure('provider_error', fault);
    return { ...found, type: 'discovered', metadata };
  } catch (error) {
    return failureOf(error);
  }
}

/** Loads the metadata of an issuer. Many servers differ in a final slash, so the issuer's own spelling is used. */
async function discoverAs(
  issuer: string,
  fetchFn: FetchLike,
): Promise<AuthorizationServerMetadata | undefined> {
  try {
    return await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  } catch (error) {
    if (!(error instanceof IssuerMismatchError)) throw error;
    const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`;
    return discoverAuthorizationServerMetadata(other, { fetchFn });
  }
}

/**
 * A fetch for the well-known addresses of metadata. A server that does not know an address may reply with a page or a server
 * error; such a reply counts as "not found", so that the next address is tried.
 */
function createPlaces(fetchFn: FetchLike) {
  let down = 0;
  return {
    /** True if one of the addresses returned a server error; the metadata may be available later. */
    isDown: () => down > 0,
    async fetchFn(...[url, init]: Parameters<FetchLike>): Promise<Response> {
      const response = await fetchFn(url, init);
      if (response.status >= 500) down += 1;
      const isNothing = response.status >= 500 || (response.ok && !(await isJson(response.clone())));
      return isNothing ? new Response(null, { status: 404 }) : response;
    },
  };
}

async function isJson(response: Response): Promise<boolean> {
  return response.json().then(
    () => true,
    () => false,
  );
}

/** True if tokens for `resource` are meant for the MCP server. */
export function isFor(serverUrl: string, resource: string): boolean {
  return (
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource })
  );
}

function issuerOf(
  { authorization_servers: named = [] }: OAuthProtectedResourceMetadata,
  expected: string | undefined,
): string | undefined {
  return expected === undefined ? named[0] : named.find((one) => isSameIssuer(one, expected));
}

/** Compares issuers, ignoring a final slash. */
export function isSameIssuer(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other);
}

function withoutSlash(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
}

/** Why the authorization server cannot be used. */
function faultOf(
  metadata: AuthorizationServerMetadata,
  { allowLoopbackHttp }: DiscoveryOptions,
): string | undefined {
  // A server that does not list PKCE may ignore it, so the specification forbids using the server.
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    return 'the authorization server does not support PKCE with S256';
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  const endpoints = [
    authorization_endpoint,
    token_endpoint,
    registration_endpoint,
    textOf(metadata, 'revocation_endpoint'),
  ];
  for (const url of endpoints)
    if (url !== undefined && faultOfUrl(url, { allowLoopbackHttp }) !== undefined)
      return 'the authorization server names an endpoint that may not be called';
  return undefined;
}

/** A text member of the metadata that the SDK's types do not name for every kind of server. */
export function textOf(metadata: AuthorizationServerMetadata, key: string): string | undefined {
  const value = (metadata as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? value : undefined;
}

function failureOf(error: unknown): ConnectorFailure {
  if (error instanceof IssuerMismatchError)
    return failure('bad_issuer', 'the metadata of the authorization server names another issuer');
  if (isRefusedAddress(error))
    return failure('provider_error', 'the server names an address that may not be called');
  const { name = '', code, cause } = error as { name?: string; code?: unknown; cause?: unknown };
  const isUnreachable = code !== undefined || cause !== undefined || name === 'TimeoutError';
  return isUnreachable
    ? failure('unavailable', 'the metadata cannot be had')
    : failure('provider_error', 'the metadata is missing or malformed');
}

/** Recognizes the errors of both fetches by their codes. */
function isRefusedAddress(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof OutboundError || code === 'refused_url' || code === 'refused_address';
}
