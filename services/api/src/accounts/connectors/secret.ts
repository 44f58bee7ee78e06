import { type Connector, failure, foreignCredential } from '../connector.ts';

/** The id of the connector for questions that ask for a secret. No configured connector can have this id. */
export const SECRET_CONNECTOR_ID = 'parley:secret';
const LENGTH_MAX = 4096;

/** Accepts any text that the person types, for one use. There is no provider, so nothing is checked, refreshed or revoked. */
export function createSecretConnector(): Connector {
  return {
    id: SECRET_CONNECTOR_ID,
    kind: 'api_key',
    describe: async () => ({ scopes: [] }),
    begin: async () => ({ type: 'form', field: { label: '', lengthMax: LENGTH_MAX }, callbackState: {} }),
    async finish(input) {
      if (input.type !== 'form') return failure('bad_state', 'not a typed secret');
      if (input.secret.length > LENGTH_MAX) return failure('rejected_key', 'longer than the field takes');
      return {
        type: 'connected',
        credential: { kind: 'api_key', value: input.secret },
        withheldScopes: [],
      };
    },
    refresh: async () => foreignCredential(),
    revoke: async () => 'unsupported',
    headersFor: async () => foreignCredential(),
  };
}
