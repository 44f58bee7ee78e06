import { randomUUID } from 'node:crypto';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { expect } from 'vitest';
import { freePort } from '../free-port.ts';
import { type Pod, startPod } from '../processes/processes.ts';
import { REPORTS_MEMORY } from '../processes/resources.ts';
import { type RedisServer, startRedis } from '../redis/redis-server.ts';
import { userToken } from '../tokens.ts';
import { call, type Reply, type Request } from './call.ts';

export const SECRET = 'attack-secret-attack-secret-attack-secret';
export const SERVICE_KEYS = {
  acme: 'acme-service-key-0123456789abcdef',
  globex: 'globex-service-key-0123456789abcdef',
} as const;
/** Keys of acme with the scopes that their names say. */
export const SCOPED_KEYS = {
  asker: 'scoped-key-of-the-asker-0123456789',
  reader: 'scoped-key-of-the-reader-0123456789',
  talker: 'scoped-key-of-the-talker-0123456789',
  linker: 'scoped-key-of-the-linker-0123456789',
  operator: 'scoped-key-of-the-operator-0123456789',
  chief: 'scoped-key-of-the-chief-0123456789',
  expired: 'scoped-key-that-has-expired-0123456789',
} as const;
const SCOPES_OF: Readonly<Record<keyof typeof SCOPED_KEYS, string>> = {
  asker: 'ask',
  reader: 'read',
  talker: 'chat',
  linker: 'link',
  operator: 'operate',
  chief: 'admin',
  expired: 'ask+read/2026-01-01',
};
export type Tenant = keyof typeof SERVICE_KEYS;
/** Signs the webhooks of acme; globex has none. */
export const WEBHOOK_SECRET = 'whsec_YXR0YWNrLXdlYmhvb2stc2VjcmV0LWF0dGFjaw==';

/** The settings of a pod that is attacked, without those of its place. */
export const POD_ENV = {
  NODE_ENV: 'production',
  PARLEY_JWT_SECRET: SECRET,
  PARLEY_API_KEYS: [
    ...Object.entries(SERVICE_KEYS).map(([tenant, key]) => `${tenant}:${key}`),
    ...Object.entries(SCOPES_OF).map(
      ([name, scopes]) => `acme/${name}/${scopes}:${SCOPED_KEYS[name as keyof typeof SCOPED_KEYS]}`,
    ),
  ].join(','),
  PARLEY_WEBHOOK_SECRETS: `acme:${WEBHOOK_SECRET}`,
  PARLEY_PUBLIC_URL: 'https://parley.example',
  // Floods send more large bodies than one caller may; test/integration/http/body-budget.test.ts judges that budget.
  PARLEY_LIMIT_USER_WRITE_BYTES: '1000000000',
  PARLEY_LIMIT_SERVICE_WRITE_BYTES: '1000000000',
  PARLEY_LIMIT_SERVICE_READ_BYTES: '1000000000',
  PARLEY_LOG_LEVEL: 'debug',
};

export interface Person {
  readonly tenant: Tenant;
  readonly userId: string;
  readonly token: string;
}

/** Two pods in production mode on one Redis: what is attacked. */
export interface World {
  readonly redis: RedisServer;
  readonly pods: readonly [Pod, Pod];
  readonly metricsUrls: readonly string[];
  /** Sends to the first pod, or to the one that `request.pod` names. */
  call(request: Request & { readonly pod?: 0 | 1 }): Promise<Reply>;
  /** Asks as the person's tenant; fails the test when that is refused. */
  ask(person: Person, more?: object): Promise<Elicitation>;
  /** The elicitation as its asker sees it. */
  read(person: Person, id: string): Promise<Elicitation>;
  /** Answers over the second pod. */
  answer(person: Person, id: string, body: unknown): Promise<Reply>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  // Nothing starts it again: a slow disk need not hold it up.
  const redis = await startRedis({ args: ['--appendonly', 'no'] });
  const ports = [await freePort(), await freePort()];
  const start = (port = 0) =>
    startPod(
      { ...POD_ENV, REDIS_URL: redis.url, PARLEY_METRICS_PORT: String(port) },
      { nodeArgs: REPORTS_MEMORY },
    );
  const pods = await Promise.all([start(ports[0]), start(ports[1])]);
  const send: World['call'] = ({ pod = 0, ...request }) => call(pods[pod].url, request);
  return {
    redis,
    pods,
    metricsUrls: ports.map((port) => `http://127.0.0.1:${port}/metrics`),
    call: send,
    async ask({ tenant, userId }, more = {}) {
      const body = { ...question(userId), ...more };
      const reply = await send({ ...POST_ASK, token: SERVICE_KEYS[tenant], body });
      expect(reply.status, reply.text).toBe(201);
      return reply.json as Elicitation;
    },
    async read({ tenant }, id) {
      const reply = await send({ path: `/v1/elicitations/${id}`, token: SERVICE_KEYS[tenant], pod: 1 });
      expect(reply.status, reply.text).toBe(200);
      return reply.json as Elicitation;
    },
    answer: ({ token }, id, body) =>
      send({ method: 'POST', path: `/v1/elicitations/${id}/response`, token, body, pod: 1 }),
    async stop() {
      await Promise.all(pods.map((pod) => pod.stop()));
      await redis.stop();
    },
  };
}

export const POST_ASK = { method: 'POST', path: '/v1/elicitations' } as const;

/** A new user, so that no test reaches another test's limits. */
export async function newPerson(tenant: Tenant = 'acme', userId = `user-${randomUUID()}`): Promise<Person> {
  return { tenant, userId, token: await userToken({ secret: SECRET, userId, tenant }) };
}

const NAME_FORM = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 50 }, age: { type: 'integer' } },
  required: ['name'],
} as const;

/** A well formed form question, to be spoilt. */
export function question(userId: string) {
  return { userId, mode: 'form', message: 'Who are you?', requestedSchema: NAME_FORM, timeoutSeconds: 600 };
}

/** An id of the right shape that nothing has. */
export const MISSING_ID = `el_07${'A'.repeat(22)}`;
