import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createEngine } from '@parley/shared/engine/engine';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { backendSettings, engineSettings, readEnv } from '@parley/shared/runtime/env';
import { silentObserver } from '@parley/shared/runtime/observer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../harness/redis-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Every command that docs/redis.md prints, in its order, by the sentence that introduces it. */
function commandsOf(markdown: string): { intro: string; shell: string }[] {
  return [...markdown.matchAll(/([^\n]+:)\n\n```sh\n([\s\S]*?)```/g)].map(([, intro = '', shell = '']) => ({
    intro,
    shell,
  }));
}

const blocks = commandsOf(readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8'));

let redis: RedisServer;
let stop: () => Promise<void>;
let id: string;

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
  const backend = createRedisBackend({
    location: { kind: 'single', url: redis.url },
    settings: backendSettings(env),
    timerQueues: 1,
  });
  const engine = createEngine({
    ...backend,
    timers: [backend.timers],
    observer: silentObserver,
    settings: engineSettings(env),
  });
  await waitUntil(async () => (await backend.health()).subscription, { what: 'the backend' });
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
  stop = () => backend.close();
});

afterAll(async () => {
  await stop?.();
  await redis?.stop();
});

describe('docs/redis.md, with redis-cli alone', () => {
  it('finds what waits for a user', () => {
    expect(runUpTo('Find what waits').trim().split('\n')).toEqual([id]);
  });

  it('reads it', () => {
    const fields = runUpTo('Read the newest').trim().split('\n');
    expect(fields).toContain('pending');
    expect(fields.join('\n')).toContain('"message":"Go?"');
  });

  it('follows its stream', () => {
    const told = runUpTo('See what happened on a stream request');
    expect(told.match(/elicitation-request/g)).toHaveLength(2);
    expect(told).toContain('elicitation-resolved');
  });

  it('shows what is overdue', () => {
    expect(runUpTo('What is overdue').trim()).toBe('');
  });

  it('shows why one ended', () => {
    const [status, settlement] = runUpTo('See why').trim().split('\n');
    expect(status).toBe('declined');
    expect(JSON.parse(settlement ?? '')).toEqual({ action: 'decline', surface: 'api' });
  });

  it('shows who listens and how many timers wait', async () => {
    await waitUntil(() => runUpTo('Who listens').trim().split('\n').at(-1) === '1', {
      what: 'the timer of the open one',
    });
  });

  it('runs every block it prints', () => {
    expect(blocks.map(({ intro }) => intro)).toHaveLength(6);
  });
});
