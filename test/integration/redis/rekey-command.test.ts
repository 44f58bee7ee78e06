import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createVault } from '@parley/shared/vault/vault';
import { afterAll, describe, expect, it } from 'vitest';
import { redisStore } from '../../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { startRedis } from '../../harness/redis/redis-server.ts';
import { newRef, ringOf } from '../../harness/vault/stores.ts';

const NAME = 'the command that changes keys';
const REKEY = await bundleEntry('services/worker/src/rekey.ts');
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const [OLD, NEW] = ['old', 'new'].map(
  (id) => `${id}:${Buffer.from(id.padEnd(32, '.')).toString('base64')}`,
) as [string, string];

interface Ended {
  readonly code: number;
  readonly lines: readonly Record<string, unknown>[];
  readonly stderr: string;
}

/** Runs it to its end, in an environment with nothing else in it. */
function runRekey(env: Record<string, string>): Promise<Ended> {
  const args = [REKEY];
  const options = { cwd: ROOT, env: { PATH: process.env.PATH, ...env }, timeout: 120_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const lines = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      resolve({ code: Number(error?.code ?? 0), lines, stderr });
    });
  });
}

const server = await startRedis().catch((error: unknown) => String(error));
if (typeof server === 'string') {
  suiteNotRun(NAME, server);
} else {
  const { url } = server;
  const pods = await redisStore({ kind: 'single', url }, async () => [url]).openVault?.();
  afterAll(async () => {
    await pods?.close();
    await server.stop();
  });

  describe(NAME, () => {
    it('reports progress, and exits with 0 when the old key may be removed', async () => {
      const [store] = pods?.stores ?? [];
      if (store === undefined) throw new Error('The vault is not open.');
      const ref = newRef();
      await createVault({ store, keys: ringOf('old') }).save(ref, { kind: 'api_key', value: 'x' });
      const lacking = await runRekey({ PARLEY_VAULT_REDIS_URL: url, PARLEY_VAULT_KEYS: NEW });
      expect([lacking.code, lacking.lines.at(-1)?.rekey]).toEqual([1, 'not done']);
      expect(lacking.stderr).toContain('`old`');
      const done = await runRekey({ REDIS_URL: url, PARLEY_VAULT_KEYS: `${NEW},${OLD}` });
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.lines[0]).toMatchObject({ rekey: 'going on', rewrapped: 1 });
      expect(done.lines.at(-1)).toMatchObject({ rekey: 'done', activeKey: 'new', rewrapped: 1, done: true });
      const held = await createVault({ store, keys: ringOf('new') }).read(ref);
      expect(held?.credential.reveal()).toEqual({ kind: 'api_key', value: 'x' });
    });

    it('names what is missing, and exits with 1', async () => {
      const { code, stderr } = await runRekey({});
      expect(code).toBe(1);
      expect(stderr).toContain('PARLEY_VAULT_KEYS');
      expect(stderr).toContain('PARLEY_VAULT_REDIS_URL');
    });
  });
}
