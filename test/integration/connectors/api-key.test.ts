import { createServer, type IncomingMessage } from 'node:http';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ApiKeyOptions,
  createApiKeyConnector,
} from '../../../services/api/src/accounts/connectors/api-key.ts';
import { canary } from '../../harness/canary.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { CONTEXT, sightings } from '../../harness/pages/sightings.ts';

const KEY = canary('api-key');

function connectorWith(options: Partial<ApiKeyOptions> = {}, allowLoopback = true) {
  const guardedFetch = createGuardedFetch({ allowLoopback, timeoutMs: 60_000 });
  return createApiKeyConnector({ id: 'weather', ...options }, { guardedFetch });
}

/** A provider that knows one key; ends with the test. */
async function startProvider(status?: number) {
  const seen: IncomingMessage['headers'][] = [];
  const server = createServer((req, res) => {
    seen.push(req.headers);
    const known = req.headers.authorization === `Bearer ${KEY}` || req.headers['x-key'] === KEY;
    res.writeHead(status ?? (known ? 200 : 401), { location: '/elsewhere' }).end(JSON.stringify(req.headers));
  });
  const checkUrl = `http://127.0.0.1:${await listenOnFreePort(server)}/me`;
  onTestFinished(() => void server.close());
  return { seen, checkUrl };
}

async function enter(connector: ReturnType<typeof connectorWith>, secret: string) {
  const begun = await connector.begin(CONTEXT);
  if (begun.type !== 'form') throw new Error('expected a form');
  return connector.finish({ type: 'form', secret }, begun.callbackState);
}

describe('an API key', () => {
  test('is read from one field and presented as a bearer token', async () => {
    const connector = connectorWith({ label: 'Weather key', help: 'Under Settings' });
    expect(await connector.begin(CONTEXT)).toMatchObject({
      type: 'form',
      field: { label: 'Weather key', help: 'Under Settings', lengthMax: 4096 },
    });
    const result = await enter(connector, `  ${KEY}\n`);
    expect(result).toEqual({
      type: 'connected',
      credential: { kind: 'api_key', value: KEY },
      withheldScopes: [],
    });
    expect(await connector.headersFor({ kind: 'api_key', value: KEY })).toEqual({
      type: 'presented',
      headers: { authorization: `Bearer ${KEY}` },
    });
  });

  test.each([
    ['nothing', '   '],
    ['a line break inside', `${KEY}\r\nx-evil: 1`],
    ['a blank inside', `${KEY} ${KEY}`],
    ['a sign that no header takes', `${KEY}\u{1f511}`],
    ['too much', 'k'.repeat(4097)],
  ])('is refused when it is %s', async (_what, secret) => {
    const { seen, checkUrl } = await startProvider();
    const result = await enter(connectorWith({ checkUrl }), secret);
    expect(result).toMatchObject({ type: 'failed', code: 'rejected_key' });
    expect(sightings(KEY, result)).toEqual([]);
    expect(seen).toEqual([]);
  });

  test('is checked at the provider, in the header that the provider expects', async () => {
    const { seen, checkUrl } = await startProvider();
    expect((await enter(connectorWith({ checkUrl }), KEY)).type).toBe('connected');
    expect((await enter(connectorWith({ checkUrl, header: 'X-Key' }), KEY)).type).toBe('connected');
    expect(seen.map((headers) => headers.authorization ?? headers['x-key'])).toEqual([`Bearer ${KEY}`, KEY]);
    expect(await enter(connectorWith({ checkUrl }), 'unknown')).toMatchObject({ code: 'rejected_key' });
  });

  test.each([
    [401, 'rejected_key'],
    [403, 'rejected_key'],
    [302, 'unavailable'],
    [404, 'unavailable'],
    [429, 'unavailable'],
    [500, 'unavailable'],
  ])('whose check is answered with %i is %s', async (status, code) => {
    const { seen, checkUrl } = await startProvider(status);
    const result = await enter(connectorWith({ checkUrl }), KEY);
    expect(result).toMatchObject({ type: 'failed', code });
    expect(sightings(KEY, result)).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  test('is not sent to a private address', async () => {
    const { seen, checkUrl } = await startProvider();
    expect(await enter(connectorWith({ checkUrl }, false), KEY)).toMatchObject({ code: 'unavailable' });
    const metadata = connectorWith({ checkUrl: 'https://169.254.169.254/' }, true);
    expect(await enter(metadata, KEY)).toMatchObject({ code: 'unavailable' });
    expect(seen).toEqual([]);
  });

  test('belongs to its own connector, cannot be refreshed, and is only deleted locally', async () => {
    const connector = connectorWith();
    const credential = { kind: 'api_key', value: KEY } as const;
    const form = { type: 'form', secret: KEY } as const;
    expect(await connector.finish(form, { connectorId: 'other' })).toMatchObject({ code: 'bad_state' });
    expect(
      await connector.finish({ type: 'callback', url: '/?code=c' }, { connectorId: 'weather' }),
    ).toMatchObject({
      code: 'bad_state',
    });
    expect(await connector.refresh(credential)).toMatchObject({ code: 'invalid_grant' });
    expect(await connector.revoke(credential)).toBe('unsupported');
    const ofAnother = { kind: 'nango', connectionId: 'c', providerConfigKey: 'p' } as const;
    expect(await connector.headersFor(ofAnother)).toMatchObject({ code: 'invalid_grant' });
  });
});
