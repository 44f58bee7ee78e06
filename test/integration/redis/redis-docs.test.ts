import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bucketOf } from '@parley/core/domain/ids';
import { backendSettings, engineSettings, readEnv } from '@parley/shared/config/env';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { createEngine } from '@parley/shared/elicitations/engine';
import { silentObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import { createRedisBackend } from '@parley/shared/redis/backend';
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
const END = '== end of a block ==';
const HOUR_MS = 3_600_000;

let redis: RedisServer;
let stop: () => Promise<void>;
let id: string;
let backend: Backend;

/** What each block prints, by its introduction, when a reader runs them all in a single shell. */
let printed: ReadonlyMap<string, string>;

function runBlocks(): Map<string, string> {
  const script = [
    'set -euo pipefail',
    'redis-cli() { command redis-cli -u "$REDIS_URL" "$@"; }',
    ...blocks.map(({ shell }) => `${shell}\necho '${END}'`),
  ].join('\n');
  const output = execFileSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, REDIS_URL: redis.url },
  });
  const parts = output.split(`${END}\n`);
  return new Map(blocks.map(({ intro }, at) => [intro, parts[at] ?? '']));
}

function printedBy(intro: string): string {
  const block = [...printed.keys()].find((each) => each.includes(intro));
  if (block === undefined) throw new Error(`docs/redis.md has no block for: ${intro}`);
  return printed.get(block) ?? '';
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
  const webhook = webhookTask(id, bucketOf(ALICE));
  await backend.outbox.add(webhook, ALICE.tenant);
  const entry = await backend.outbox.takeOne(webhook, 0);
  if (entry !== undefined) await backend.outbox.again(entry, 0, { code: 'status', status: 503 });
  stop = () => backend.close();
  // The job of the armed deadline is added after the reply to the ask.
  printed = await waitUntil(
    () => {
      const all = runBlocks();
      return [...all.values()].at(-1)?.trim().split('\n').at(-1) === '1' && all;
    },
    { what: 'the timer of the open elicitation', timeoutMs: 60_000 },
  );
});

const ALICE = { tenant: 'acme', userId: 'alice' };
const TRACKER = { ...ALICE, toolId: 'tracker', connectorId: 'tracker-account' };

async function beginTurn({ runs, heartbeats }: Backend): Promise<void> {
  await heartbeats.beat('pod-1/1', HOUR_MS);
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

async function connectTracker({ vault: store, pages }: Backend): Promise<void> {
  const { keys } = parseVaultKeys([`k1:${randomBytes(32).toString('base64')}`]);
  if (keys === undefined) throw new Error('There is no key.');
  const vault = createVault({ store, keys });
  await vault.save(TRACKER, { kind: 'api_key', value: SECRET });
  await vault.stage({ ...TRACKER, flowId: 'half-way' }, { kind: 'api_key', value: SECRET }, HOUR_MS);
  await pages.put({ family: 'session', id: SECRET }, '{}', HOUR_MS);
}

afterAll(async () => {
  await stop?.();
  await redis?.stop();
});

describe('docs/redis.md, with redis-cli alone', () => {
  it('finds the open questions of a user', () => {
    expect(printedBy('Find what waits').trim().split('\n')).toEqual([id]);
  });

  it('reads the newest question', () => {
    const fields = printedBy('Read the newest').trim().split('\n');
    expect(fields).toContain('pending');
    expect(fields.join('\n')).toContain('"message":"Go?"');
  });

  it('follows a stream request', () => {
    const text = printedBy('See what happened on a stream request');
    expect(text.match(/elicitation-request/g)).toHaveLength(2);
    expect(text).toContain('elicitation-resolved');
  });

  it('shows what is overdue', () => {
    expect(printedBy('Find overdue').trim()).toBe('');
  });

  it('shows the outstanding tasks of the outboxes', () => {
    const [member, due] = printedBy('See the outstanding tasks').trim().split('\n');
    expect(member).toBe(`webhook ${id}`);
    expect(Number(due)).toBeGreaterThan(Date.now() - HOUR_MS);
    expect(Number(due)).toBeLessThanOrEqual(Date.now());
  });

  it('shows why a question ended', () => {
    const [status, settlement] = printedBy('See why').trim().split('\n');
    expect(status).toBe('declined');
    expect(JSON.parse(settlement ?? '')).toEqual({ action: 'decline', surface: 'api' });
  });

  it('shows the record of a turn and which pods are alive', () => {
    const text = printedBy('See the record of the turn');
    expect(text).toContain('running\n');
    expect(text).toContain('List my issues');
    expect(text).toMatch(/parley:\{[^}]+\}:pod:pod-1%2F1\n/);
  });

  it('shows which accounts are connected, and by which key they are sealed', () => {
    const [key, state, version, savedAt, flow, sealed] = printedBy('See which accounts').split('\n');
    expect(key).toMatch(/^parley:\{[^}]+\}:credential:acme\/alice\/tracker\/tracker-account$/);
    expect([state, flow, sealed]).toEqual(['usable', '', 'v1.k1']);
    expect(Number(version)).toBeGreaterThan(Number(savedAt));
  });

  it('finds the records of the connect pages, by keys that contain no secret', () => {
    const text = printedBy('Find unfinished connect flows');
    expect(text).toMatch(/:credential-staged:acme\/alice\/tracker\/tracker-account\/half-way\n/);
    expect(text).toMatch(/:connect-session:[\w-]{43}\n/);
    expect(text).not.toContain(SECRET);
  });

  it('shows the armed deadline of a bucket, the elicitation that it is for, and its job', () => {
    const [armed = '', ...job] = printedBy('See which deadline is armed').trim().split('\n');
    const [deadline = '', id = ''] = armed.split(' ');
    const data = JSON.parse(job[job.indexOf('data') + 1] ?? '{}') as Record<string, unknown>;
    expect(data).toEqual({ bucket: expect.any(Number), deadline: Number(deadline), elicitationId: id });
  });

  it('shows the subscribers and the number of timers', () => {
    expect(printedBy('List the subscribed channels').trim().split('\n').at(-1)).toBe('1');
  });

  it('shows what is open in a tenant', () => {
    expect(printedBy('See what is open in a tenant').trim()).toBe(id);
  });

  it('shows what the tenant has not been delivered, and why', () => {
    const lines = printedBy('See what the tenant has not been delivered').trim().split('\n');
    expect(lines).toEqual(expect.arrayContaining([`webhook ${id}`, `webhook ${id} failed`, 'status 503']));
  });

  it('runs every block it prints', () => {
    expect(blocks.map(({ intro }) => intro)).toHaveLength(13);
  });
});
