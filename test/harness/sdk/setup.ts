import { randomUUID } from 'node:crypto';
import {
  type ClientOptions,
  createClient,
  type ParleyClient,
  type ParleyClientError,
  type RetryOptions,
} from '@parley/sdk';
import { freePort } from '../free-port.ts';
import { createRoundRobin, type RoundRobin } from '../http/round-robin.ts';
import { type Pod, startPod } from '../processes/processes.ts';
import { type RedisServer, startRedis } from '../redis/redis-server.ts';
import { userToken } from '../tokens.ts';

export const SERVICE_KEY = 'sdk-tests-service-key';
const JWT_SECRET = 'sdk-tests-secret-of-thirty-two-characters';
const TENANT = 'acme';

/** The environment of every pod of these tests. */
export const POD_ENV = {
  PARLEY_API_KEYS: `${TENANT}/tests/ask+read+chat+link:${SERVICE_KEY}`,
  // Links begin with it; the tests open their paths at the balancer.
  PARLEY_PUBLIC_URL: 'https://parley.example',
  PARLEY_JWT_SECRET: JWT_SECRET,
  PARLEY_LOG_LEVEL: 'warn',
};

/** Pods on one Redis, behind a balancer. */
export interface World {
  readonly redis: RedisServer;
  readonly balancer: RoundRobin;
  /** The running pods. */
  readonly pods: Pod[];
  /** Starts a pod, on a given port if there is one. */
  startPod(port?: number): Promise<Pod>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  // Nothing starts it again: a slow disk need not hold it up.
  const redis = await startRedis({ args: ['--appendonly', 'no'] });
  const env = { ...POD_ENV, REDIS_URL: redis.url, PARLEY_HEARTBEAT_MS: '200' };
  // On a port that nothing else is given while the pod is unavailable, so that it can be started there again.
  const start = async (port?: number) => startPod({ ...env, PORT: String(port ?? (await freePort())) });
  const pods = await Promise.all([start(), start()]);
  const balancer = await createRoundRobin({ targets: pods.map(({ url }) => url), healthPath: false });
  return {
    redis,
    balancer,
    pods,
    startPod: start,
    async stop() {
      await balancer.close();
      await Promise.all(pods.map((pod) => pod.stop()));
      await redis.stop();
    },
  };
}

/** Short delays, so that tests wait for events and not for the back-off. */
export const QUICK: RetryOptions = { firstDelayMs: 10, delayMsMax: 100 };

export const COLOUR_FORM = {
  type: 'object',
  properties: { colour: { type: 'string', enum: ['red', 'blue'] }, note: { type: 'string' } },
  required: ['colour'],
} as const;

/** A form question to a new person. */
export function colourQuestion<const More extends object>(more: More) {
  const question = { userId: newUser(), mode: 'form', message: 'Which colour?' } as const;
  return { ...question, requestedSchema: COLOUR_FORM, timeoutSeconds: 60, ...more };
}

export function newUser(): string {
  return `user-${randomUUID()}`;
}

export function tokenOf(userId: string, expiresInSeconds?: number): Promise<string> {
  const lasting = expiresInSeconds === undefined ? {} : { expiresInSeconds };
  return userToken({ secret: JWT_SECRET, userId, tenant: TENANT, ...lasting });
}

type More = Partial<ClientOptions>;

export function serviceAt(baseUrl: string, more: More = {}): ParleyClient {
  return createClient({ baseUrl, token: SERVICE_KEY, retry: QUICK, ...more });
}

export function userAt(baseUrl: string, userId: string, more: More = {}): ParleyClient {
  return createClient({ baseUrl, token: () => tokenOf(userId), retry: QUICK, ...more });
}

/** What happens to a request instead of being sent; undefined sends it. */
export type Fault = (request: Sent) => Promise<Response> | undefined;

export interface Sent {
  readonly path: string;
  readonly method: string;
  readonly body: unknown;
  readonly headers: Headers;
  /** Sends it for real. */
  readonly deliver: () => Promise<Response>;
}

export const isAsk = ({ method, path }: Sent) => method === 'POST' && path === '/v1/elicitations';
export const isWait = ({ path }: Sent) => path.endsWith('/wait');

/** The error of a failed call. */
export async function failureOf(call: Promise<unknown>): Promise<ParleyClientError> {
  const result = await call.then(
    (value) => ({ value }),
    (error: ParleyClientError) => ({ error }),
  );
  if ('error' in result) return result.error;
  throw new Error('the call succeeded, and was to fail');
}

/** A `fetch` that records requests and can be made to fail. */
export function recordingFetch(fault: Fault = () => undefined) {
  const sent: Sent[] = [];
  const recording: typeof fetch = async (input, init = {}) => {
    const request = {
      path: new URL(String(input)).pathname,
      method: init.method ?? 'GET',
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      headers: new Headers(init.headers),
      deliver: () => fetch(input, init),
    };
    sent.push(request);
    return fault(request) ?? request.deliver();
  };
  return { fetch: recording, sent, waits: () => sent.filter(({ path }) => path.endsWith('/wait')).length };
}

/** Delivers the first matching request and loses its reply. */
export function loseReplyTo(matches: (request: Sent) => boolean): Fault {
  let lost = false;
  return (request) => {
    if (lost || !matches(request)) return undefined;
    lost = true;
    return request.deliver().then(async (response) => {
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    });
  };
}
