import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { bucketOf } from '@parley/shared/domain/ids';
import { createEngine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { backendSettings, engineSettings, readEnv } from '@parley/shared/runtime/env';
import { silentObserver } from '@parley/shared/runtime/observer';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { createVault } from '@parley/shared/vault/vault';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canary } from '../../harness/canary.ts';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Every command that docs/redis.md prints, in its order, by the sentence that introduces it. */
function commandsOf(markdown: string): { intro: string; shell: string }[] {
  return [...markdown.matchAll(/([^\n]+:)\n\n```sh\n([\s\S]*?)```/g)].map(([, intro = '', shell = '']) => ({
    intro,
    shell,
  }));
}

const blocks = commandsOf(readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8'));

const SECRET = canary('redis-docs');

let redis: RedisServer;
let stop: () => Promise<void>;
let id: string;
let backend: Backend;

/** Runs the blocks up to and with the named one in a single shell, as a reader would; gives what that one printed. */
function runUpTo(intro: string): string {
  const last = blocks.findIndex((block) => block.intro.includes(intro));
  expect(last, `docs/redis.md has no block for: ${intro}`).toBeGreaterThanOrEqual(0);
  const script = [
    'set -euo pipefail',
    'redis-cli() { command redis-cli -u "$REDIS_URL" "$@"; }',
    ...blocks.slice(0, last).map(({ shell }) => `{ ${shell}\n} > /dev/null`),
    blocks[last]?.shell ?? '',
  ].join('\n');
  return execFileSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, REDIS_URL: redis.url },
  });
}

beforeAll(async () => {
  redis = await startRedis();
  const env = readEnv('api', {});
  backend = createRedisBackend({
    location: { kind: 'single', url: redis.url },
    settings: backendSettings(env),
    timerQueues: 1,
  });
  const engine = createEngine({
    ...backend,
    observer: silentObserver,
    deliveries: dispatchOn(backend),
    settings: engineSettings(env),
  });
  const isReady = async () => {
    const { commands, subscription } = await backend.health();
    return commands && subscription;
  };
  await waitUntil(isReady, { what: 'the backend' });
  const ask = () =>
    engine.ask({
      tenant: 'acme',
      input: {
        userId: 'alice',
        streamRequestId: 'release-1',
        mode: 'form',
        message: 'Go?',
        requestedSchema: { type: 'object', properties: {} },
        timeoutSeconds: 600,
      },
    });
  const caller = { kind: 'user', tenant: 'acme', userId: 'alice' } as const;
  const first = await ask();
  await engine.answer({ caller, id: first.row.id, response: { action: 'decline' }, surface: 'api' });
  id = (await ask()).row.id;
  await beginTurn(backend);
  await connectTracker(backend);
  stop = () => backend.close();
});

const ALICE = { tenant: 'acme', userId: 'alice' };
const TRACKER = { ...ALICE, toolId: 'tracker', connectorId: 'tracker-account' };

async function beginTurn({ runs, heartbeats }: Backend): Promise<void> {
  await heartbeats.beat('pod-1/1', 60_000);
  await runs.begin({
    ...ALICE,
    streamRequestId: 'sr_turn',
    conversationId: 'first',
    agent: 'support',
    owner: 'pod-1/1',
    support: { form: true, url: true },
    input: [{ role: 'user', content: 'List my issues' }],
    event: { type: 'turn-started', conversationId: 'first', messageId: 'msg_turn', agent: 'support' },
  });
}

async function connectTracker({ vault: store, connect }: Backend): Promise<void> {
  const { keys } = parseVaultKeys([`k1:${randomBytes(32).toString('base64')}`]);
  if (keys === undefined) throw new Error('There is no key.');
  const vault = createVault({ store, keys });
  await vault.save(TRACKER, { kind: 'api_key', value: SECRET });
  await vault.stage({ ...TRACKER, flowId: 'half-way' }, { kind: 'api_key', value: SECRET }, 60_000);
  await connect.put({ family: 'session', id: SECRET }, '{}', 60_000);
}

afterAll(async () => {
  await stop?.();
  await redis?.stop();
});

describe('docs/redis.md, with redis-cli alone', () => {
  it('finds the open questions of a user', () => {
    expect(runUpTo('Find what waits').trim().split('\n')).toEqual([id]);
  });

  it('reads the newest question', () => {
    const fields = runUpTo('Read the newest').trim().split('\n');
    expect(fields).toContain('pending');
    expect(fields.join('\n')).toContain('"message":"Go?"');
  });

  it('follows a stream request', () => {
    const printed = runUpTo('See what happened on a stream request');
    expect(printed.match(/elicitation-request/g)).toHaveLength(2);
    expect(printed).toContain('elicitation-resolved');
  });

  it('shows what is overdue', () => {
    expect(runUpTo('Find overdue').trim()).toBe('');
  });

  it('shows the outstanding tasks of the outboxes', async () => {
    const task = webhookTask(id, bucketOf(ALICE));
    await backend.outbox.add(task);
    const [member, due] = runUpTo('See the outstanding tasks').trim().split('\n');
    expect(member).toBe(`webhook ${id}`);
    expect(Math.abs(Number(due) - Date.now())).toBeLessThan(60_000);
    await backend.outbox.remove(task);
  });

  it('shows why a question ended', () => {
    const [status, settlement] = runUpTo('See why').trim().split('\n');
    expect(status).toBe('declined');
    expect(JSON.parse(settlement ?? '')).toEqual({ action: 'decline', surface: 'api' });
  });

  it('shows the record of a turn and which pods are alive', () => {
    const printed = runUpTo('See the record of the turn');
    expect(printed).toContain('running\n');
    expect(printed).toContain('List my issues');
    expect(printed).toMatch(/parley:\{[^}]+\}:pod:pod-1%2F1\n/);
  });

  it('shows which accounts are connected, and by which key they are sealed', () => {
    const [key, state, version, savedAt, flow, sealed] = runUpTo('See which accounts').split('\n');
    expect(key).toMatch(/^parley:\{[^}]+\}:credential:acme\/alice\/tracker\/tracker-account$/);
    expect([state, flow, sealed]).toEqual(['usable', '', 'v1.k1']);
    expect(Number(version)).toBeGreaterThan(Number(savedAt));
  });

  it('finds the records of the connect pages, by keys that contain no secret', () => {
    const printed = runUpTo('Find unfinished connect flows');
    expect(printed).toMatch(/:credential-staged:acme\/alice\/tracker\/tracker-account\/half-way\n/);
    expect(printed).toMatch(/:connect-session:[\w-]{43}\n/);
    expect(printed).not.toContain(SECRET);
  });

  it('shows the armed deadline of a bucket, the elicitation that it is for, and its job', () => {
    const [armed = '', ...job] = runUpTo('See which deadline is armed').trim().split('\n');
    const [deadline = '', id = ''] = armed.split(' ');
    const data = JSON.parse(job[job.indexOf('data') + 1] ?? '{}') as Record<string, unknown>;
    expect(data).toEqual({ bucket: expect.any(Number), deadline: Number(deadline), elicitationId: id });
  });

  it('shows the subscribers and the number of timers', async () => {
    await waitUntil(() => runUpTo('List the subscribed channels').trim().split('\n').at(-1) === '1', {
      what: 'the timer of the open elicitation',
    });
  });

  it('runs every block it prints', () => {
    expect(blocks.map(({ intro }) => intro)).toHaveLength(11);
  });
});
