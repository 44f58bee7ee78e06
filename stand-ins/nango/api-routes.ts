/** The REST API of the stand-in for Nango. The Connect page and webhooks are in the files beside this one. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../authorization-server/pages.ts';
import { type NangoIntegration, requestTokens } from './oauth.ts';
import type { NangoStore, StoredConnection, StoredSession } from './store.ts';

interface ApiDeps {
  readonly url: string;
  readonly store: NangoStore;
  readonly integrations: ReadonlyMap<string, NangoIntegration>;
  readonly secretKey: string;
}

const SESSION_MS = 30 * 60_000;
const SKEW_MS = 60_000;

/** The part of Nango's REST API that a connector needs. */
export function createNangoApiRoutes(
  deps: ApiDeps,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { url, store, secretKey } = deps;

  async function addSession(req: IncomingMessage, res: ServerResponse, again: boolean): Promise<void> {
    const body = JSON.parse(await readBody(req)) as {
      tags?: Record<string, string>;
      allowed_integrations?: string[];
      connection_id?: string;
      integration_id?: string;
    };
    const session: StoredSession = {
      tags: Object.fromEntries(
        Object.entries(body.tags ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      allowed: again ? [body.integration_id ?? ''] : (body.allowed_integrations ?? []),
      ...(again && body.connection_id !== undefined && { connectionId: body.connection_id }),
    };
    if (session.allowed.some((name) => !deps.integrations.has(name))) return fault(res, 400, 'invalid_body');
    const token = store.addSession(session);
    const expires_at = new Date(Date.now() + SESSION_MS).toISOString();
    reply(res, 201, { data: { token, connect_link: `${url}/ui?session_token=${token}`, expires_at } });
  }

  function list(res: ServerResponse, query: URLSearchParams): void {
    const integration = query.get('integrationId');
    const tags = [...query].flatMap(([name, value]) => {
      const tag = /^tags\[(.+)\]$/u.exec(name)?.[1];
      return tag === undefined ? [] : [[tag, value] as const];
    });
    const found = store
      .connections()
      .filter((one) => integration === null || one.integration === integration)
      .filter((one) => tags.every(([name, value]) => one.tags[name] === value));
    reply(res, 200, { connections: found.map((one) => ({ ...summaryOf(one), created: one.created })) });
  }

  async function show(res: ServerResponse, connectionId: string, query: URLSearchParams): Promise<void> {
    const integration = query.get('provider_config_key') ?? '';
    const client = deps.integrations.get(integration);
    if (client === undefined) return fault(res, 400, 'unknown_provider_config');
    const connection = store.connection(connectionId, integration);
    if (connection === undefined) return fault(res, 404, 'not_found');
    const { tokens } = connection;
    const stale = tokens.expiresAt !== undefined && Date.parse(tokens.expiresAt) < Date.now() + SKEW_MS;
    if (query.get('force_refresh') === 'true' || stale) {
      const refreshed = await refresh(client, connection);
      if (!refreshed) return fault(res, 424, 'invalid_credentials');
    }
    const { accessToken: access_token, expiresAt: expires_at } = connection.tokens;
    const credentials = { type: 'OAUTH2', access_token, expires_at, raw: { access_token } };
    const { created: created_at } = connection;
    reply(res, 200, { ...summaryOf(connection), created_at, updated_at: created_at, credentials });
  }

  return async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', url);
    if (req.headers.authorization !== `Bearer ${secretKey}`) return fault(res, 401, 'unauthorized');
    const at = `${req.method} ${pathname.replace(/^(\/connections\/).+/u, '$1:id')}`;
    const connectionId = decodeURIComponent(pathname.slice('/connections/'.length));
    switch (at) {
      case 'POST /connect/sessions':
        return addSession(req, res, false);
      case 'POST /connect/sessions/reconnect':
        return addSession(req, res, true);
      case 'GET /connections':
        return list(res, searchParams);
      case 'GET /connections/:id':
        return show(res, connectionId, searchParams);
      case 'DELETE /connections/:id': {
        const known = store.connection(connectionId, searchParams.get('provider_config_key') ?? '');
        if (known === undefined) return fault(res, 400, 'unknown_connection');
        store.remove(connectionId);
        return reply(res, 200, { success: true });
      }
      default:
        return fault(res, 404, 'not_found');
    }
  };
}

async function refresh(client: NangoIntegration, connection: StoredConnection): Promise<boolean> {
  const { refreshToken } = connection.tokens;
  if (refreshToken === undefined) return false;
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const tokens = await requestTokens(client, grant).catch(() => undefined);
  if (tokens !== undefined) connection.tokens = tokens;
  return tokens !== undefined;
}

function summaryOf({ id, connectionId, integration, tags }: StoredConnection): object {
  const named = { connection_id: connectionId, provider_config_key: integration, provider: integration };
  return { id, ...named, tags, end_user: null, errors: [], metadata: null };
}

function reply(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function fault(res: ServerResponse, status: number, code: string): void {
  reply(res, status, { error: { code, message: code } });
}
