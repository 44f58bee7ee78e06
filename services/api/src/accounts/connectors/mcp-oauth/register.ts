/**
 * Makes Parley known to an authorization server that it has just discovered. Clients that the deployer registered never come
 * here.
 */

import {
  type AuthorizationServerMetadata,
  registerClient,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import type { BoundedFetch } from '../../oauth/bounded-fetch.ts';
import { isHeaderSafe } from '../../oauth/secret-text.ts';
import { asFetchLike } from './fetch.ts';

/** Parley as a client of one authorization server. */
export interface RegisteredClient {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly clientAuthentication?: 'basic' | 'post';
}

/** The description of Parley for authorization servers. */
interface ClientDescription {
  readonly clientName: string;
  readonly redirectUri: string;
  /** Where Parley serves its metadata as a client; absent where authorization servers cannot read it. */
  readonly metadataUrl?: string;
}

interface Registration {
  /**
   * Registers Parley at an authorization server, or returns the registration of the last hour. `question` is the id of the
   * question that begins. Rejects if the server supports no way to register.
   */
  register(server: AuthorizationServerMetadata, question: string): Promise<RegisteredClient>;
  /** Removes a client that its server no longer knows. */
  forget(clientId: string): void;
}

interface Held {
  readonly issuer: string;
  readonly client: Promise<RegisteredClient>;
  readonly since: number;
  /** Questions that began with this registration. */
  readonly questions: Set<string>;
  /** Both fields are set once the server has replied. */
  until?: number;
  clientId?: string;
}

const REGISTRATION_TTL_MS = 60 * 60_000;
/**
 * A repeated question does not replace a registration younger than this, so that one person cannot cause many registrations.
 */
const REPLACED_AFTER_MS = 60_000;
/** Time for a person to agree, before the secret expires. */
const EXPIRY_MARGIN_MS = 10 * 60_000;
const METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/**
 * Identifies Parley by the URL of its client metadata if the server accepts that, or else by dynamic registration (RFC 7591). A
 * registration is used for an hour, and only at the server that made it.
 *
 * A server that has forgotten the client shows an error to the person and does not redirect. The only sign of this is that the
 * same question begins again; the client is then replaced.
 */
export function createRegistration(
  description: ClientDescription,
  fetch: BoundedFetch,
  now: () => number,
): Registration {
  let held: Held | undefined;

  function registerAnew(server: AuthorizationServerMetadata): Held {
    const made = registerAt(server, description, fetch);
    const since = now();
    const one: Held = {
      issuer: server.issuer,
      client: made.then(({ client }) => client),
      since,
      questions: new Set(),
    };
    made.then(
      ({ client, secretExpiresAt = Number.POSITIVE_INFINITY }) => {
        one.clientId = client.clientId;
        one.until = Math.min(
          since + REGISTRATION_TTL_MS,
          now() + secretExpiresAt - Date.now() - EXPIRY_MARGIN_MS,
        );
      },
      () => {
        if (held === one) held = undefined;
      },
    );
    return one;
  }

  function isUsable({ issuer, until, since, questions }: Held, wanted: string, question: string): boolean {
    if (issuer !== wanted || (until !== undefined && now() >= until)) return false;
    return !questions.has(question) || now() < since + REPLACED_AFTER_MS;
  }

  return {
    async register(server, question) {
      const { metadataUrl } = description;
      if (metadataUrl !== undefined && server.client_id_metadata_document_supported === true)
        return { clientId: metadataUrl };
      if (held === undefined || !isUsable(held, server.issuer, question)) held = registerAnew(server);
      held.questions.add(question);
      return held.client;
    },
    forget(clientId) {
      if (held?.clientId === clientId) held = undefined;
    },
  };
}

/** The client metadata document, whose URL is Parley's client id. */
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
    // OpenID Connect allows http on loopback for native applications only.
    application_type: protocol === 'https:' ? 'web' : 'native',
  };
}

/** Registers a new client. Its time is in ms since 1970. */
async function registerAt(
  server: AuthorizationServerMetadata,
  description: ClientDescription,
  fetch: BoundedFetch,
): Promise<{ readonly client: RegisteredClient; readonly secretExpiresAt?: number }> {
  // RFC 8414: a server that lists no method accepts `client_secret_basic`.
  const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = METHODS.find((one) => supported.includes(one)) ?? 'client_secret_basic';
  const registered = await registerClient(server.issuer, {
    metadata: server,
    clientMetadata: { ...metadataOf(description), token_endpoint_auth_method: method },
    fetchFn: asFetchLike(fetch),
  });
  const { client_id: clientId, client_secret: clientSecret, client_secret_expires_at: expires } = registered;
  const chosen = selectClientAuthMethod(registered, supported);
  if (clientSecret === undefined || chosen === 'none') return { client: { clientId } };
  if (!isHeaderSafe(clientSecret)) throw new Error('the client secret is not one to send');
  const clientAuthentication = chosen === 'client_secret_post' ? 'post' : 'basic';
  return {
    client: { clientId, clientSecret, clientAuthentication },
    // RFC 7591 gives seconds since 1970, and 0 for a secret that does not expire.
    ...(expires !== undefined && expires !== 0 && { secretExpiresAt: expires * 1_000 }),
  };
}
