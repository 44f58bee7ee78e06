import type { Credential } from '@parley/shared/domain/credential';
import type { GuardedFetch } from '@parley/shared/ports/delivery/guarded-fetch';
import {
  type Connector,
  type ConnectorFailure,
  credentialFailure,
  failure,
  foreignCredential,
} from '../connector.ts';
import { isHeaderSafe } from '../oauth/secret-text.ts';

export interface ApiKeyOptions {
  readonly id: string;
  /** The name of the field, for the person. */
  readonly label?: string;
  /** Where to find the key, for the person. */
  readonly help?: string;
  /** The header that carries the key; `authorization` by default. */
  readonly header?: string;
  /** The text before the key in the header; by default `Bearer ` for `authorization`, and nothing for other headers. */
  readonly prefix?: string;
  /** In characters; 4,096 by default. */
  readonly lengthMax?: number;
  /** A URL that answers 2xx to a GET with a good key, and 401 or 403 to a bad one. */
  readonly checkUrl?: string;
}

interface ApiKeyDeps {
  /** Makes the check call to `checkUrl`. */
  readonly guardedFetch: GuardedFetch;
}

const LENGTH_MAX = 4096;
const REFUSED = new Set([401, 403]);

/** An API key that the person pastes into Parley's page. Where `checkUrl` is set, the key is tried at the provider. */
export function createApiKeyConnector(options: ApiKeyOptions, { guardedFetch }: ApiKeyDeps): Connector {
  const { id, label = 'API key', help, lengthMax = LENGTH_MAX, checkUrl } = options;
  const header = (options.header ?? 'authorization').toLowerCase();
  const prefix = options.prefix ?? (header === 'authorization' ? 'Bearer ' : '');
  const headersOf = (key: string) => ({ [header]: `${prefix}${key}` });

  async function refused(key: string): Promise<ConnectorFailure | undefined> {
    if (checkUrl === undefined) return undefined;
    const headers = { ...headersOf(key), accept: 'application/json, */*;q=0.1' };
    const reply = await guardedFetch({ url: checkUrl, headers }).catch(() => undefined);
    if (reply === undefined) return failure('unavailable', 'the check call came to nothing');
    if (REFUSED.has(reply.status)) return failure('rejected_key', 'the provider does not know the key');
    const good = reply.status >= 200 && reply.status < 300;
    return good ? undefined : failure('unavailable', `the check call was answered with ${reply.status}`);
  }

  return {
    id,
    kind: 'api_key',
    describe: async () => ({ scopes: [] }),
    begin: async () => ({
      type: 'form',
      field: { label, lengthMax, ...(help !== undefined && { help }) },
      callbackState: { connectorId: id },
    }),

    async finish(input, callbackState) {
      if (input.type !== 'form' || callbackState.connectorId !== id)
        return failure('bad_state', 'the flow belongs to another connector');
      const value = input.secret.trim();
      // The key is checked before it is sent, because an error about an invalid header value would quote it.
      if (value === '' || value.length > lengthMax || !isHeaderSafe(value))
        return failure('rejected_key', 'the key is empty, too long, or has characters that no key has');
      const credential: Credential = { kind: 'api_key', value };
      return (await refused(value)) ?? { type: 'connected', credential, withheldScopes: [] };
    },

    refresh: async () => credentialFailure('invalid_grant', 'a key cannot be refreshed'),
    revoke: async () => 'unsupported',
    headersFor: async (credential) =>
      credential.kind === 'api_key'
        ? { type: 'presented', headers: headersOf(credential.value) }
        : foreignCredential(),
  };
}
