/**
 * The calls of Nango's REST API that the connector needs, checked against schemas. What the replies mean for a flow is decided
 * in `nango.ts`.
 */

import { faultOfUrl } from '@parley/core/domain/url';
import { z } from 'zod';
import { createBoundedFetch } from '../oauth/bounded-fetch.ts';

interface NangoApiOptions {
  /** The URL of Nango's API, without a final slash. */
  readonly host: string;
  readonly secretKey: string;
  readonly timeoutMs: number;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp: boolean;
}

export type Tags = Readonly<Record<string, string>>;

const Session = z.object({ data: z.object({ connect_link: z.string() }) });

/** Identifies a connection and its owner. */
const Summary = z.object({
  connection_id: z.string().min(1).max(255),
  provider_config_key: z.string(),
  tags: z.record(z.string(), z.string()).default({}),
  /** ISO 8601. Only lists contain it. */
  created: z.string().optional(),
});
export type ConnectionSummary = z.infer<typeof Summary>;

const Summaries = z.object({ connections: z.array(Summary) });

const WithToken = [
  'OAUTH2',
  'APP',
  'OAUTH2_CC',
  'JWT',
  'TWO_STEP',
  'MCP_OAUTH2',
  'MCP_OAUTH2_GENERIC',
] as const;
const Credentials = z.union([
  z
    .object({
      type: z.enum(WithToken),
      access_token: z.string().optional(),
      token: z.string().optional(),
      expires_at: z.string().nullish(),
    })
    .refine((held) => held.access_token !== undefined || held.token !== undefined),
  z.object({ type: z.literal('API_KEY'), apiKey: z.string() }),
  z.object({ type: z.literal('BASIC'), username: z.string(), password: z.string() }),
]);
export type NangoCredentials = z.infer<typeof Credentials>;

const Connection = Summary.extend({ credentials: Credentials });
type NangoConnection = z.infer<typeof Connection>;

/** `gone`: Nango has no such connection, or can no longer refresh it. `unavailable`: ask again later. */
export type NangoFault = 'gone' | 'unavailable';
type NangoAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: NangoFault };

/** The calls of Nango's REST API that a connector needs. None rejects. */
export interface NangoApi {
  /** Creates a bearer link with which the one person that these tags name connects one account. */
  createSession(integration: string, tags: Tags): Promise<NangoAnswer<string>>;
  connection(
    integration: string,
    connectionId: string,
    forceRefresh: boolean,
  ): Promise<NangoAnswer<NangoConnection>>;
  /** Connections that have all these tags, unordered. */
  list(integration: string, tags: Tags): Promise<NangoAnswer<readonly ConnectionSummary[]>>;
  remove(integration: string, connectionId: string): Promise<NangoAnswer<unknown>>;
}

const RESPONSE_BYTES_MAX = 1024 * 1024;
const GONE = new Set(['not_found', 'unknown_connection', 'invalid_credentials']);
const NangoError = z.object({ error: z.object({ code: z.string() }) });

/** Calls Nango's API with bounded requests, and checks the replies against their schemas. */
export function createNangoApi(options: NangoApiOptions): NangoApi {
  const { host, secretKey, timeoutMs, allowLoopbackHttp } = options;
  const call = createBoundedFetch({ timeoutMs, allowLoopbackHttp, responseBytesMax: RESPONSE_BYTES_MAX });

  async function ask<T>(
    schema: z.ZodType<T>,
    method: string,
    path: string,
    body?: object,
  ): Promise<NangoAnswer<T>> {
    const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    try {
      const response = await call(`${host}${path}`, init);
      const json: unknown = await response.json();
      if (!response.ok) return { ok: false, fault: faultOf(json) };
      const parsed = schema.safeParse(json);
      return parsed.success ? { ok: true, value: parsed.data } : { ok: false, fault: 'unavailable' };
    } catch {
      // The error may quote the request, which contains the key.
      return { ok: false, fault: 'unavailable' };
    }
  }

  const pathOf = (connectionId: string, query: Record<string, string>) =>
    `/connections/${encodeURIComponent(connectionId)}?${new URLSearchParams(query)}`;

  return {
    async createSession(integration, tags) {
      const body = { tags, allowed_integrations: [integration] };
      const answer = await ask(Session, 'POST', '/connect/sessions', body);
      if (!answer.ok) return answer;
      const link = answer.value.data.connect_link;
      const fault = faultOfUrl(link, { allowLoopbackHttp });
      return fault === undefined ? { ok: true, value: link } : { ok: false, fault: 'unavailable' };
    },

    connection: (integration, connectionId, forceRefresh) =>
      ask(
        Connection,
        'GET',
        pathOf(connectionId, { provider_config_key: integration, force_refresh: String(forceRefresh) }),
      ),

    async list(integration, tags) {
      const query = new URLSearchParams({ integrationId: integration });
      for (const [name, value] of Object.entries(tags)) query.append(`tags[${name}]`, value);
      const answer = await ask(Summaries, 'GET', `/connections?${query}`);
      return answer.ok ? { ok: true, value: answer.value.connections } : answer;
    },

    remove: (integration, connectionId) =>
      ask(z.unknown(), 'DELETE', pathOf(connectionId, { provider_config_key: integration })),
  };
}

function faultOf(json: unknown): NangoFault {
  const parsed = NangoError.safeParse(json);
  return parsed.success && GONE.has(parsed.data.error.code) ? 'gone' : 'unavailable';
}
