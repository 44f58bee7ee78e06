import {
  type AuthorizationServerMetadata,
  registerClient,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import type { BoundedFetch } from '../bounded-fetch.ts';
import { createCached } from '../cached.ts';
import { isHeaderSafe } from '../secret-text.ts';
import { asFetchLike } from './fetch.ts';

/** Parley as a client of one authorization server. */
export interface RegisteredClient {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly clientAuthentication?: 'basic' | 'post';
}

/** What authorization servers learn about Parley. */
export interface ClientDescription {
  readonly clientName: string;
  readonly redirectUri: string;
  /** Where Parley serves its metadata as a client; absent where authorization servers cannot read it. */
  readonly metadataUrl?: string;
}

/** Registers Parley at an authorization server. Rejects where the server offers no way. */
export type RegisterClient = (server: AuthorizationServerMetadata) => Promise<RegisteredClient>;

const REGISTRATION_TTL_MS = 60 * 60_000;
const METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/**
 * By the URL of the client's metadata where the server takes one, else by dynamic registration (RFC 7591). A registration
 * is used for an hour, at the server that made it only. `forget` ends that.
 */
export function createRegistration(
  description: ClientDescription,
  fetch: BoundedFetch,
): { readonly register: RegisterClient; readonly forget: () => void } {
  let last: { readonly issuer: string; readonly client: () => Promise<RegisteredClient> } | undefined;
  return {
    async register(server) {
      const { metadataUrl } = description;
      if (metadataUrl !== undefined && server.client_id_metadata_document_supported === true)
        return { clientId: metadataUrl };
      if (last?.issuer !== server.issuer)
        last = {
          issuer: server.issuer,
          client: createCached(() => registerAt(server, description, fetch), {
            ttlMs: REGISTRATION_TTL_MS,
            now: () => performance.now(),
          }),
        };
      return last.client();
    },
    forget() {
      last = undefined;
    },
  };
}

/** The metadata document of Parley as a client whose id is the document's URL. */
export function clientMetadataDocument(
  description: ClientDescription & { readonly metadataUrl: string },
): Readonly<Record<string, unknown>> {
  return {
    client_id: description.metadataUrl,
    ...metadataOf(description),
    token_endpoint_auth_method: 'none',
  };
}

function metadataOf({ clientName, redirectUri }: ClientDescription) {
  const { protocol } = new URL(redirectUri);
  return {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // OpenID Connect registers http on loopback for native applications only.
    application_type: protocol === 'https:' ? 'web' : 'native',
  };
}

async function registerAt(
  server: AuthorizationServerMetadata,
  description: ClientDescription,
  fetch: BoundedFetch,
): Promise<RegisteredClient> {
  // RFC 8414: a server that names no method takes `client_secret_basic`.
  const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = METHODS.find((one) => supported.includes(one)) ?? 'client_secret_basic';
  const registered = await registerClient(server.issuer, {
    metadata: server,
    clientMetadata: { ...metadataOf(description), token_endpoint_auth_method: method },
    fetchFn: asFetchLike(fetch),
  });
  const { client_id: clientId, client_secret: clientSecret } = registered;
  const chosen = selectClientAuthMethod(registered, supported);
  if (clientSecret === undefined || chosen === 'none') return { clientId };
  if (!isHeaderSafe(clientSecret)) throw new Error('the client secret is not one to send');
  return { clientId, clientSecret, clientAuthentication: chosen === 'client_secret_post' ? 'post' : 'basic' };
}
