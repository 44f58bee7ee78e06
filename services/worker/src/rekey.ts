/** The command `npm run rekey`, which seals stored secrets under another key. Sealing itself is in `shared/src/vault`. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import { EnvError, readEnv } from '@parley/shared/config/env';
import { redisLocation, vaultLocation } from '@parley/shared/config/redis-env';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { type Commands, connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisSealedState } from '@parley/shared/redis/sealed/state-store';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { type RekeyReport, rekey } from '@parley/shared/vault/rekey';

/**
 * `npm run rekey`: seals all sealed records under the first key of PARLEY_VAULT_KEYS, while pods run. Prints one line of JSON
 * per page and one at the end. Exits with 0 if no record needs another key, otherwise with 1.
 *
 * A key rotation has four steps; complete each one on all pods before the next. Append the new key to the list, so that all
 * pods can open what it seals. Move it to the front. Run this command. Remove the old key.
 */
const CONNECT_MS = 10_000;
const POLL_MS = 50;

async function main(): Promise<number> {
  const env = readEnv('worker');
  const [location, vault] = [redisLocation(env), vaultLocation(env)];
  const { keys, faults = [] } = parseVaultKeys(env.PARLEY_VAULT_KEYS);
  if (location === undefined || vault === undefined)
    throw new EnvError([...faults, 'REDIS_URL: set the variables of the Redis that the pods use']);
  if (keys === undefined) throw new EnvError(faults);
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort(new Error('Stopped; start it again to continue.')));
  process.once('SIGTERM', () => stopping.abort(new Error('Stopped; start it again to continue.')));
  const state = connect(location);
  const credentials = connect(vault);
  const opened = [state, credentials];
  try {
    await Promise.all(opened.map((each) => each.ready()));
    const stores = [createRedisVaultStore(credentials.redis), createRedisSealedState(state.redis)];
    const report = await rekey(
      { stores, keys },
      { onProgress: (progress) => print({ rekey: 'going on', ...progress }), signal: stopping.signal },
    );
    print({ rekey: report.done ? 'done' : 'not done', activeKey: keys.activeId, ...report });
    if (!report.done) process.stderr.write(`${whyNotDone(report)}\n`);
    return report.done ? 0 : 1;
  } finally {
    for (const each of opened) each.redis.disconnect();
  }
}

function connect(location: RedisLocation) {
  const redis = connectCommands(location);
  let lastError: unknown;
  redis.on('error', (error: unknown) => {
    lastError = error;
  });
  return { redis, ready: () => waitUntilReady(redis, () => lastError) };
}

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function whyNotDone({ missingKeys, unreadable, lapsing, lapsedInMs }: RekeyReport): string {
  if (missingKeys.length > 0) {
    return `PARLEY_VAULT_KEYS lacks ${missingKeys.map((id) => `\`${id}\``).join(', ')}, which some records need. Add it at the end and start again.`;
  }
  if (unreadable > 0)
    return 'Some records are damaged, or come from an earlier version, and do not open. What they belong to must be done again, such as connecting an account.';
  if (lapsing > 0) {
    const within = `within ${Math.ceil(lapsedInMs / 1_000)} s`;
    return `${lapsing} value(s) of sign-ins and connections that are under way have another key. They end ${within}: start again then.`;
  }
  return 'Some pods still seal with another key. Give all of them the same PARLEY_VAULT_KEYS and start again.';
}

async function waitUntilReady(redis: Commands, lastError: () => unknown): Promise<void> {
  const until = performance.now() + CONNECT_MS;
  for (;;) {
    try {
      await redis.ping();
      return;
    } catch (error) {
      if (performance.now() >= until) throw lastError() ?? error;
      await sleep(POLL_MS);
    }
  }
}

function describeError(error: unknown): string {
  if (isParleyError(error, 'unavailable'))
    return 'Redis is unavailable; finished records are saved. Start it again to continue.';
  return error instanceof Error ? error.message : String(error);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = 1;
    setImmediate(() => process.exit());
  },
);
