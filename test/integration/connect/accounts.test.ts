import { createGuardedFetch } from '@parley/shared/runtime/guarded-fetch';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createApiKeyConnector } from '../../../services/api/src/surfaces/connect/connectors/api-key.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { userToken } from '../../harness/tokens.ts';
import { ADA, startWorld, TOKEN_SECRET } from './setup.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => redisCommand(redis.port, 'FLUSHALL'));

const BOB = { ...ADA, userId: 'bob' };
const ISSUES = { toolId: 'issues', connectorId: 'tracker' };

/** A tracker that ada and bob have connected, and notes that nobody has. */
async function world() {
  const notes = createApiKeyConnector({ id: 'notes-key' }, { guardedFetch: createGuardedFetch() });
  const here = await startWorld({ redisUrl: redis.url, services: () => ({ notes }) });
  for (const owner of [ADA, BOB])
    await here.vault.save({ ...owner, ...ISSUES }, { kind: 'oauth2', accessToken: 'a', tokenType: 'Bearer' });
  return here;
}

async function call(publicUrl: string, owner: typeof ADA, method: 'GET' | 'DELETE', path: string) {
  const token = await userToken({ secret: TOKEN_SECRET, ...owner });
  const response = await fetch(`${publicUrl}/v1/accounts${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('a person sees which services are connected, and nothing of a credential', async () => {
  const here = await world();
  const connected = { toolId: 'issues', service: 'Service issues', state: 'connected' };
  const other = { toolId: 'notes', service: 'Service notes', state: 'not_connected' };
  const connectedAt = expect.stringMatching(/^\d{4}-/);
  expect(await call(here.publicUrl, ADA, 'GET', '')).toEqual({
    status: 200,
    body: { accounts: [{ ...connected, connectedAt }, other] },
  });
  const version = (await here.held())?.version ?? 0;
  await here.vault.markReconnect({ ...ADA, ...ISSUES }, version);
  expect((await call(here.publicUrl, ADA, 'GET', '')).body).toMatchObject({
    accounts: [{ state: 'reconnect_required' }, other],
  });
});

test("disconnecting deletes and revokes one's own credential only, once", async () => {
  const here = await world();
  expect(await call(here.publicUrl, ADA, 'DELETE', '/issues')).toEqual({
    status: 200,
    body: { toolId: 'issues', revoked: 'revoked' },
  });
  expect(here.tracker.revocations()).toBe(1);
  expect(await here.held()).toBeUndefined();
  expect(await here.held('issues', BOB)).toBeDefined();
  expect(here.events.at(-1)).toEqual({
    type: 'disconnected',
    ...ISSUES,
    tenant: ADA.tenant,
    revoked: 'revoked',
  });
  expect(await call(here.publicUrl, ADA, 'DELETE', '/issues')).toEqual({
    status: 200,
    body: { toolId: 'issues' },
  });
  expect(here.tracker.revocations()).toBe(1);
});

test('an unknown service is not found', async () => {
  const here = await world();
  for (const path of ['/unknown', '/__proto__', '/..%2Fissues'])
    expect(await call(here.publicUrl, ADA, 'DELETE', path)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  expect(await here.held()).toBeDefined();
});
