import { canaryKey } from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { DEFAULTS, openSite, type Site } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const COMMANDS_PER_SECOND_MAX = 30;

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.stop());

/** Seconds of the server's clock, and all commands so far: calls of scripts, and what these execute. */
async function readUse() {
  const [[seconds, microseconds], stats] = await Promise.all([
    redisCommand(site.redis.port, 'TIME') as Promise<string[]>,
    redisCommand(site.redis.port, 'INFO', 'commandstats'),
  ]);
  const rows = [...String(stats).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)];
  const calls = new Map(rows.map(([, name, count]) => [name, Number(count)]));
  return { seconds: Number(seconds) + Number(microseconds) / 1e6, calls };
}

async function nextBeat(previous?: string): Promise<string> {
  const beat = () => redisCommand(site.redis.port, 'GET', canaryKey()) as Promise<string | null>;
  return `${await waitUntil(
    async () => {
      const found = await beat();
      return found !== null && found !== previous && found;
    },
    { what: 'a beat', timeoutMs: 120_000, everyMs: 1_000 },
  )}`;
}

/** The commands of each name a second until the next beat. */
async function measureUntilBeat(previous: string) {
  const before = await readUse();
  const beat = await nextBeat(previous);
  const after = await readUse();
  const seconds = after.seconds - before.seconds;
  const perSecond = [...after.calls].map(([name, calls]) => {
    // This test looks once a second, by a connection of its own.
    const looks = name === 'get' || name === 'hello' ? seconds : 0;
    return [name, (calls - (before.calls.get(name) ?? 0) - looks) / seconds] as const;
  });
  return { beat, perSecond, all: perSecond.reduce((sum, [, calls]) => sum + calls, 0) };
}

// The window is the time between two canaries, in which every other kind of maintenance but the cleanup has its rounds.
it('a pod that runs agents and a worker, both idle and with nothing set, take at most 30 commands a second', async () => {
  const PARLEY_CONFIG = site.agents(
    'http://127.0.0.1:9/v1',
    'agents: { helper: { title: Helper, model: scripted, instructions: Help. } }\n',
  );
  await Promise.all([site.pod({ ...DEFAULTS, PARLEY_CONFIG }), site.worker({ ...DEFAULTS, PARLEY_CONFIG })]);
  let use = await measureUntilBeat(await nextBeat(await nextBeat()));
  // On a busy machine the start or the cleanup, which comes once in minutes, reaches into a window. Nothing reaches into all.
  for (let windows = 1; windows < 3 && use.all > COMMANDS_PER_SECOND_MAX; windows += 1)
    use = await measureUntilBeat(use.beat);
  const rates = JSON.stringify(Object.fromEntries(use.perSecond));
  expect(use.all, rates).toBeLessThanOrEqual(COMMANDS_PER_SECOND_MAX);
});
