/**
 * The connector for credentials that Nango keeps and refreshes. The REST calls are in `nango-api.ts`, reading webhooks is in
 * `nango-webhook.ts`.
 */

import { faultOfUrl } from '@parley/core/domain/url';
import {
  type CallbackState,
  type Connected,
  type Connector,
  type ConnectorEvent,
  type ConnectorFailure,
  type CredentialFailure,
  credentialFailure,
  failure,
  foreignCredential,
  type Presented,
} from '../connector.ts';
import { isHeaderSafe } from '../oauth/secret-text.ts';
import {
  type ConnectionSummary,
  createNangoApi,
  type NangoApi,
  type NangoCredentials,
  type NangoFault,
  type Tags,
} from './nango-api.ts';
import { FLOW_TAG, readNangoWebhook, TENANT_TAG } from './nango-webhook.ts';

export interface NangoOptions {
  readonly id: string;
  /** The integration's unique key in Nango (`provider_config_key`). */
  readonly integration: string;
  readonly secretKey: string;
  /** Nango shows it with the webhook settings. On environments made after April 2026 it differs from the API key. */
  readonly webhookSigningKey: string;
  /** `https://api.nango.dev` by default. */
  readonly host?: string;
  /** For integrations with an API key, the header that carries it, as it is; a bearer token by default. */
  readonly apiKeyHeader?: string;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
  /** For each call to Nango, ms; 10 s by default. */
  readonly timeoutMs?: number;
}

const HOST = 'https://api.nango.dev';
/** Where Nango's Connect UI lies, for the consent page. */
const CONNECT_ORIGIN = 'https://connect.nango.dev';
const TIMEOUT_MS = 10_000;

/**
 * Credentials that Nango keeps and refreshes. Parley stores only the name of a connection, which two tags tie to a flow. Parley
 * sets the tags, and the person cannot change them. Throws a `TypeError` when `host` is not a usable URL.
 */
export function createNangoConnector(options: NangoOptions): Connector {
  const { id, integration, allowLoopbackHttp = false } = options;
  const host = (options.host ?? HOST).replace(/\/+$/u, '');
  const fault = faultOfUrl(host, { allowLoopbackHttp });
  if (fault !== undefined) throw new TypeError(`connector ${id}: host ${fault}`);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const api = createNangoApi({ host, secretKey: options.secretKey, timeoutMs, allowLoopbackHttp });
  const signing = { signingKey: options.webhookSigningKey, integration };

  return {
    id,
    kind: 'nango',
    describe: async () => ({ origin: CONNECT_ORIGIN, scopes: [] }),

    async begin({ flowId, tenant }) {
      const session = await api.createSession(integration, tagsOf({ flowId, tenant }));
      if (!session.ok) return failure('unavailable', 'Nango gave no session');
      return { type: 'redirect', url: session.value, callbackState: { connectorId: id, flowId, tenant } };
    },

    async finish(input, callbackState) {
      const isOfAnother = callbackState.connectorId !== id || input.type !== 'event';
      if (
        isOfAnother ||
        input.event.flowId !== callbackState.flowId ||
        input.event.tenant !== callbackState.tenant
      )
        return failure('bad_state', 'the event belongs to another flow');
      return confirm(api, integration, input.event);
    },

    webhook: (raw, headers) => readNangoWebhook(raw, headers, signing),
    poll: (callbackState) => poll(api, { id, integration }, callbackState),

    async refresh(credential) {
      if (credential.kind !== 'nango') return foreignCredential();
      const { providerConfigKey, connectionId } = credential;
      const answer = await api.connection(providerConfigKey, connectionId, true);
      return answer.ok ? { type: 'refreshed', credential } : faultOfConnection(answer.fault);
    },

    async revoke(credential) {
      if (credential.kind !== 'nango') return 'unsupported';
      const answer = await api.remove(credential.providerConfigKey, credential.connectionId);
      return answer.ok || answer.fault === 'gone' ? 'revoked' : 'unavailable';
    },

    async headersFor(credential) {
      if (credential.kind !== 'nango') return foreignCredential();
      const { providerConfigKey, connectionId } = credential;
      const answer = await api.connection(providerConfigKey, connectionId, false);
      return answer.ok
        ? present(answer.value.credentials, options.apiKeyHeader)
        : faultOfConnection(answer.fault);
    },
  };
}

function tagsOf({ flowId, tenant }: Pick<ConnectorEvent, 'flowId' | 'tenant'>): Tags {
  return { [FLOW_TAG]: flowId, [TENANT_TAG]: tenant };
}

/** Asks Nango whether the connection exists and has the tags, because a webhook may be old or repeated. */
async function confirm(
  api: NangoApi,
  integration: string,
  event: ConnectorEvent,
): Promise<Connected | ConnectorFailure> {
  const answer = await api.connection(integration, event.connectionId, false);
  if (!answer.ok) {
    return answer.fault === 'gone'
      ? failure('provider_error', 'Nango has no such connection any more')
      : failure('unavailable', 'Nango did not show the connection');
  }
  const { connection_id: connectionId, provider_config_key: providerConfigKey, tags } = answer.value;
  const same = connectionId === event.connectionId && providerConfigKey === integration;
  if (!same || tags[FLOW_TAG] !== event.flowId || tags[TENANT_TAG] !== event.tenant)
    return failure('bad_state', 'the connection belongs to another flow');
  return {
    type: 'connected',
    credential: { kind: 'nango', connectionId, providerConfigKey },
    withheldScopes: [],
  };
}

async function poll(
  api: NangoApi,
  { id, integration }: { readonly id: string; readonly integration: string },
  callbackState: CallbackState,
): Promise<Connected | { type: 'pending' } | ConnectorFailure> {
  const { flowId, tenant } = callbackState;
  if (callbackState.connectorId !== id || flowId === undefined || tenant === undefined)
    return failure('bad_state', 'the flow belongs to another connector');
  const answer = await api.list(integration, tagsOf({ flowId, tenant }));
  if (!answer.ok) return failure('unavailable', 'Nango did not list its connections');
  // Older versions of Nango ignore unknown filters and list everybody's connections, so the tags are checked again.
  const ours = answer.value.filter((one) => one.tags[FLOW_TAG] === flowId && one.tags[TENANT_TAG] === tenant);
  const age = ({ created = '' }: ConnectionSummary) => Date.parse(created) || 0;
  const last = ours.sort((left, right) => age(left) - age(right)).at(-1);
  if (last === undefined) return { type: 'pending' };
  return confirm(api, integration, { connectionId: last.connection_id, flowId, tenant });
}

function present(held: NangoCredentials, apiKeyHeader?: string): Presented | CredentialFailure {
  const { secret, headers, expiresAt } = readCredentials(held, apiKeyHeader?.toLowerCase());
  if (!isHeaderSafe(secret)) return credentialFailure('invalid_grant', 'the secret is not one to present');
  return { type: 'presented', headers, ...(expiresAt !== undefined && { expiresAt }) };
}

function readCredentials(
  held: NangoCredentials,
  apiKeyHeader?: string,
): { secret: string; headers: Record<string, string>; expiresAt?: number } {
  if (held.type === 'BASIC') {
    const secret = Buffer.from(`${held.username}:${held.password}`).toString('base64');
    return { secret, headers: { authorization: `Basic ${secret}` } };
  }
  if (held.type === 'API_KEY') {
    const secret = held.apiKey;
    const bearer = { authorization: `Bearer ${secret}` };
    return { secret, headers: apiKeyHeader === undefined ? bearer : { [apiKeyHeader]: secret } };
  }
  const secret = held.access_token ?? held.token ?? '';
  const expiresAt = Date.parse(held.expires_at ?? '');
  return {
    secret,
    headers: { authorization: `Bearer ${secret}` },
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  };
}

function faultOfConnection(fault: NangoFault): CredentialFailure {
  return fault === 'gone'
    ? credentialFailure('invalid_grant', 'Nango has no such connection, or cannot refresh it')
    : credentialFailure('unavailable', 'Nango did not show the connection');
}
