import { createServer } from 'node:http';
import { Nango } from '@nangohq/node';
import { expect, onTestFinished } from 'vitest';
import type { Redirect } from '../../../services/api/src/accounts/connector.ts';
import {
  createNangoConnector,
  type NangoOptions,
} from '../../../services/api/src/accounts/connectors/nango.ts';
import { startAuthorizationServer } from '../../../stand-ins/authorization-server/authorization-server.ts';
import { walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import { startNango } from '../../../stand-ins/nango/nango.ts';
import { canary } from '../../harness/canary.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { SCOPES } from '../../harness/pages/connectors-setup.ts';
import { CONTEXT } from '../../harness/pages/sightings.ts';
import { waitUntil } from '../../harness/wait-until.ts';

export const INTEGRATION = 'tracker';
export const SECRET_KEY = canary('nango-key');
export const SIGNING_KEY = canary('nango-signing');

/** Nango, the provider behind it, and a place where its webhooks arrive; all end with the test. */
export async function startWorld(options: Partial<NangoOptions> = {}) {
  const nango = await startNango({ secretKey: SECRET_KEY, webhookSigningKey: SIGNING_KEY });
  onTestFinished(() => nango.close());
  const client = { clientId: 'nango', clientSecret: 'nango-secret' };
  const clients = [{ ...client, redirectUris: [nango.redirectUri] }];
  const provider = await startAuthorizationServer({
    name: 'Tracker',
    users: ['ada'],
    scopes: SCOPES,
    clients,
  });
  onTestFinished(() => provider.close());
  nango.addIntegration(INTEGRATION, { issuer: provider.issuer, ...client, scopes: SCOPES });

  const received: { raw: Buffer; headers: Record<string, string | string[] | undefined> }[] = [];
  const receiver = createServer(async (req, res) => {
    const raw = Buffer.concat(await req.toArray());
    received.push({ raw, headers: req.headers });
    res.writeHead(204).end();
  });
  nango.sendWebhooksTo(`http://127.0.0.1:${await listenOnFreePort(receiver)}/`);
  onTestFinished(() => {
    receiver.closeAllConnections();
    receiver.close();
  });

  const connector = createNangoConnector({
    id: 'tracker',
    integration: INTEGRATION,
    secretKey: SECRET_KEY,
    webhookSigningKey: SIGNING_KEY,
    host: nango.url,
    allowLoopbackHttp: true,
    ...options,
  });
  const sdk = new Nango({ secretKey: SECRET_KEY, webhookSigningKey: SIGNING_KEY, host: nango.url });
  return { nango, provider, connector, sdk, received };
}

type World = Awaited<ReturnType<typeof startWorld>>;

export async function begin({ connector }: World, context = CONTEXT): Promise<Redirect> {
  const begun = await connector.begin(context);
  if (begun.type !== 'redirect') throw new Error(`expected a redirect, got ${begun.type}`);
  return begun;
}

/** The person connects; the walk ends on Nango's last page. */
export async function connectAt({ nango }: World, begun: Redirect): Promise<void> {
  const callback = await walkSignIn({
    url: begun.url,
    user: 'ada',
    stopAt: (url) => url.startsWith(nango.redirectUri),
  });
  expect((await fetch(callback)).status).toBe(200);
}

export function read(world: World, webhook: World['received'][number] | undefined) {
  const verdict = world.connector.webhook?.(webhook?.raw ?? Buffer.alloc(0), webhook?.headers ?? {});
  if (verdict?.type !== 'event') throw new Error(`expected an event, got ${verdict?.type}`);
  return verdict;
}

export async function connected(world: World, context = CONTEXT) {
  const begun = await begin(world, context);
  const before = world.received.length;
  await connectAt(world, begun);
  await waitUntil(() => world.received.length > before, { what: 'the webhook' });
  const verdict = read(world, world.received.at(-1));
  const result = await world.connector.finish({ type: 'event', event: verdict.event }, begun.callbackState);
  if (result.type !== 'connected' || result.credential.kind !== 'nango') throw new Error(result.type);
  return { begun, verdict, credential: result.credential };
}
