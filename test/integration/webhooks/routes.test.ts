import { randomUUID } from 'node:crypto';
import { mintElicitationId } from '@parley/core/domain/ids';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createMemoryDeadLetters } from '@parley/shared/memory/outbox/dead-letters';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { openApiOf } from '../../../services/api/src/http/docs/openapi.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import { elicitationRoutes } from '../../../services/api/src/surfaces/rest/elicitations.ts';
import { webhookRoutes } from '../../../services/api/src/surfaces/rest/webhooks.ts';
import { call, expectProblem } from '../../harness/attacks/call.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { userToken } from '../../harness/tokens.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';

const LIST = '/v1/webhooks/dead-letters';
const KEYS = { acme: 'acme-service-key-0123456789abcdef', globex: 'globex-service-key-0123456789abcdef' };
const JWT_SECRET = 'routes-secret-routes-secret-routes-secret';

const backend = createMemoryBackend(ROOMY);
const engine = engineOn(backend);
const deadLetters = createMemoryDeadLetters({ keepMs: 60_000 });
const outbox: string[] = [];
let base: string;

const routes = webhookRoutes(
  createWebhooks({
    deadLetters,
    elicitations: backend.elicitations,
    retentionMs: ROOMY.retentionMs,
    deadLetterMs: 30 * 86_400_000,
    outbox: { add: async ({ subject }) => void outbox.push(subject) },
  }),
);
let served: Awaited<ReturnType<typeof serveSurfaces>>;
beforeAll(async () => {
  served = await serveSurfaces({
    surfaces: [{ routes }],
    authenticate: createAuthenticate({
      serviceKeys: parseServiceKeys(Object.entries(KEYS).map(([tenant, key]) => `${tenant}:${key}`)).keys,
      verify: createTokenVerifier({ tenants: [], userClaim: 'sub', secret: JWT_SECRET }),
    }),
    limits: callLimitsOn(backend.limits),
  });
  base = served.url;
});
afterAll(() => served.close());
beforeEach(async () => {
  outbox.length = 0;
  for (const tenant of Object.keys(KEYS)) {
    const { deadLetters: letters } = await deadLetters.page({ tenant, limit: 1_000 });
    for (const { deliveryId } of letters) await deadLetters.remove(tenant, deliveryId);
  }
});

const list = (query = '', token: string = KEYS.acme) => call(base, { path: `${LIST}${query}`, token });
const redrive = (deliveryId: string, token: string = KEYS.acme) =>
  call(base, { method: 'POST', path: `${LIST}/${deliveryId}/redrive`, token });

/** A webhook of acme that could not be delivered. */
async function newLetter(exists = true): Promise<string> {
  const owner = { tenant: 'acme', userId: randomUUID() };
  const id = exists ? (await askQuestion(engine, owner)).row.id : mintElicitationId(owner);
  const deliveryId = webhookIdOf(id);
  await deadLetters.add('acme', {
    deliveryId,
    elicitationId: id,
    attempts: 10,
    lastError: 'status',
    lastStatus: 503,
  });
  return deliveryId;
}

describe('GET /v1/webhooks/dead-letters', () => {
  it('lists failed deliveries, newest first, in pages', async () => {
    expect((await list()).json).toEqual({ deadLetters: [] });
    const ids = await Promise.all(Array.from({ length: 103 }, () => newLetter()));
    const first = (await list()).json as { deadLetters: Record<string, unknown>[]; nextCursor: string };
    expect(first.deadLetters).toHaveLength(100);
    expect(first.deadLetters[0]).toEqual({
      deliveryId: expect.stringMatching(/^msg_el_/),
      elicitationId: expect.stringMatching(/^el_/),
      attempts: 10,
      lastError: 'status',
      lastStatus: 503,
      diedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const second = (await list(`?cursor=${first.nextCursor}`)).json as typeof first;
    expect(second).not.toHaveProperty('nextCursor');
    const seen = [...first.deadLetters, ...second.deadLetters].map(({ deliveryId }) => String(deliveryId));
    expect(seen.sort()).toEqual(ids.sort());
  });

  it('is for services, each for its own tenant', async () => {
    await newLetter();
    expect((await list('', KEYS.globex)).json).toEqual({ deadLetters: [] });
    const user = await userToken({ secret: JWT_SECRET, userId: 'ada', tenant: 'acme' });
    expectProblem(await list('', user), 403, 'forbidden');
    expectProblem(await call(base, { path: LIST }), 401, 'unauthenticated');
  });

  it.each([
    '?cursor=x',
    '?cursor=',
    '?cursor=1.msg_x',
    '?cursor=-1.msg_el_07',
    '?limit=1',
    '?cursor=1&cursor=2',
  ])('refuses %s', async (query) => {
    expectProblem(await list(query), 400, 'invalid_request');
  });
});

describe('POST /v1/webhooks/dead-letters/:deliveryId/redrive', () => {
  it('queues it again and removes it from the list, once', async () => {
    const deliveryId = await newLetter();
    const reply = await redrive(deliveryId);
    expect([reply.status, reply.json]).toMatchObject([200, { deliveryId, attempts: 10 }]);
    expect(outbox).toEqual([deliveryId.slice('msg_'.length)]);
    expect((await list()).json).toEqual({ deadLetters: [] });
    expectProblem(await redrive(deliveryId), 404, 'not_found');
    expect(outbox).toHaveLength(1);
  });

  it('is for services, each for its own tenant, and hides its existence from others', async () => {
    const deliveryId = await newLetter();
    const user = await userToken({ secret: JWT_SECRET, userId: 'ada', tenant: 'acme' });
    expectProblem(await redrive(deliveryId, user), 403, 'forbidden');
    const [ofAnother, missing] = [await redrive(deliveryId, KEYS.globex), await redrive(`${deliveryId}x`)];
    expectProblem(ofAnother, 404, 'not_found');
    expect(ofAnother.text).toBe(missing.text);
    expect(outbox).toEqual([]);
    expect((await list()).json).toMatchObject({ deadLetters: [{ deliveryId }] });
  });

  it('is not found when its elicitation was deleted, and is removed from the list', async () => {
    const deliveryId = await newLetter(false);
    expectProblem(await redrive(deliveryId), 404, 'not_found');
    expect(outbox).toEqual([]);
    expect((await list()).json).toEqual({ deadLetters: [] });
  });

  it.each(['x', 'msg_', 'msg_el_07', `el_07${'A'.repeat(22)}`, '%00', 'msg_el_07%2f..', 'm'.repeat(4_000)])(
    'finds nothing under %s',
    async (deliveryId) => {
      expectProblem(await redrive(deliveryId), 404, 'not_found');
    },
  );
});

it('openapi.json describes the calls and the webhook', () => {
  const all = [...elicitationRoutes({ engine, hasConnectPage: () => false }), ...routes];
  const { paths, webhooks, components } = openApiOf(all, '1') as ReturnType<typeof openApiOf> & {
    webhooks: Record<string, unknown>;
    components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining([LIST, `${LIST}/{deliveryId}/redrive`]));
  expect(Object.keys(webhooks)).toEqual(['elicitation-ended']);
  expect(components.schemas.AskInput?.properties).toHaveProperty('webhookUrl');
  expect(components.schemas.Elicitation?.properties).not.toHaveProperty('webhookUrl');
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(['WebhookEvent', 'DeadLetter']));
});
