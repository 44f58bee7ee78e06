/** Starts the stand-in for Nango. Its REST API is in `api-routes.ts`, its state in `store.ts`. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { escapeHtml, sendPage } from '../authorization-server/pages.ts';
import { createNangoApiRoutes } from './api-routes.ts';
import { beginOAuth, type NangoIntegration, requestTokens } from './oauth.ts';
import { createNangoStore, type StoredSession } from './store.ts';
import { createWebhookSender, type SentWebhook } from './webhooks.ts';

export interface NangoOptions {
  /** A port on 127.0.0.1; by default a free one. */
  readonly port?: number;
  /** The key of its API. */
  readonly secretKey: string;
  readonly webhookSigningKey: string;
}

/** A running stand-in for Nango. */
export interface NangoStandIn {
  /** The origin of its API and its Connect UI. */
  readonly url: string;
  /** The redirect URI to register at the authorization servers of its integrations. */
  readonly redirectUri: string;
  /** All webhooks so far, including lost ones. */
  readonly webhooks: readonly SentWebhook[];
  addIntegration(name: string, integration: NangoIntegration): void;
  /** Sets the address for further webhooks. */
  sendWebhooksTo(url: string): void;
  /** Sets whether further webhooks get lost. */
  loseWebhooks(lost: boolean): void;
  close(): Promise<void>;
}

interface Pending {
  readonly session: StoredSession;
  readonly integration: string;
  readonly verifier: string;
}

/**
 * Starts a stand-in for the part of Nango that a connector uses: sessions, connections, signed webhooks and a Connect page,
 * with real OAuth behind it. It is built from Nango's published types and contains none of Nango's code.
 */
export async function startNango(options: NangoOptions): Promise<NangoStandIn> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirectUri = `${url}/oauth/callback`;
  const store = createNangoStore();
  const integrations = new Map<string, NangoIntegration>();
  const pending = new Map<string, Pending>();
  let webhookUrl: string | undefined;
  const webhooks = createWebhookSender(options.webhookSigningKey, () => webhookUrl);
  const api = createNangoApiRoutes({ url, store, integrations, secretKey: options.secretKey });

  async function start(res: ServerResponse, token: string): Promise<void> {
    const session = store.session(token);
    const integration = session?.allowed[0] ?? '';
    const client = integrations.get(integration);
    if (session === undefined || client === undefined) return unknownLink(res);
    const { url: target, state, verifier } = await beginOAuth(client, redirectUri);
    pending.set(state, { session, integration, verifier });
    res.writeHead(303, { location: target }).end();
  }

  async function finish(res: ServerResponse, query: URLSearchParams): Promise<void> {
    const state = query.get('state') ?? '';
    const flow = pending.get(state);
    pending.delete(state);
    const client = flow === undefined ? undefined : integrations.get(flow.integration);
    if (flow === undefined || client === undefined) return unknownLink(res);
    const code = query.get('code');
    if (code === null) return sendPage(res, 200, 'Not connected', '<h1>Not connected</h1>');
    const { session, integration, verifier: code_verifier } = flow;
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier };
    const connection = store.connect(session, integration, await requestTokens(client, grant));
    webhooks.send({
      from: 'nango',
      type: 'auth',
      connectionId: connection.connectionId,
      authMode: 'OAUTH2',
      providerConfigKey: integration,
      provider: integration,
      environment: 'dev',
      operation: session.connectionId === undefined ? 'creation' : 'override',
      tags: connection.tags,
      success: true,
    });
    sendPage(res, 200, 'Connected', '<h1>Connected</h1><p>You can close this window.</p>');
  }

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', url);
    const token = searchParams.get('session_token') ?? '';
    if (pathname === '/ui' && req.method === 'POST') return start(res, token);
    if (pathname === '/ui') return showLink(res, token, store.session(token));
    if (pathname === '/oauth/callback') return finish(res, searchParams);
    return api(req, res);
  }

  server.on('request', (req, res) => {
    route(req, res).catch(() => {
      if (!res.headersSent) res.writeHead(502);
      res.end();
    });
  });

  return {
    url,
    redirectUri,
    webhooks: webhooks.sent,
    addIntegration: (name, integration) => void integrations.set(name, integration),
    sendWebhooksTo: (target) => {
      webhookUrl = target;
    },
    loseWebhooks: webhooks.lose,
    async close() {
      await webhooks.settle();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function showLink(res: ServerResponse, token: string, session: StoredSession | undefined): void {
  if (session === undefined) {
    unknownLink(res);
    return;
  }
  const name = escapeHtml(session.allowed[0] ?? '');
  const action = `/ui?session_token=${encodeURIComponent(token)}`;
  const form = `<form method="post" action="${action}" data-form="start"><button>Connect</button></form>`;
  sendPage(res, 200, 'Connect', `<h1>Connect ${name}</h1>${form}`);
}

function unknownLink(res: ServerResponse): void {
  sendPage(res, 404, 'Unknown link', '<h1>This link is not known</h1>');
}
