import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readEnv } from '@parley/shared/config/env';
import { SEALED_KINDS, type SealedKind } from '@parley/shared/ports/sealed';
import { createPushStoreOf } from '@parley/shared/runtime/a2a-push';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { createPushAddresses } from '@parley/shared/vault/push-address';
import { createVault } from '@parley/shared/vault/vault';
import { afterAll, describe, expect, it } from 'vitest';
import { createFlows, signInName } from '../../../services/api/src/accounts/flows/flows.ts';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { openRedisPods } from '../../harness/engines/redis-pods.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { startRedis } from '../../harness/redis/redis-server.ts';
import { newRef, ringOf } from '../../harness/vault/stores.ts';

const NAME = 'the command that changes keys';
const REKEY = await bundleEntry('services/worker/src/rekey.ts');
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const keyEntry = (...ids: string[]) =>
  ids.map((id) => `${id}:${Buffer.from(id.padEnd(32, '.')).toString('base64')}`).join(',');

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
  const { backend, close } = await openRedisPods({ kind: 'single', url }, ROOMY);
  afterAll(async () => {
    await close();
    await server.stop();
  });

  const OWNER = { tenant: 'acme', userId: 'ada/ä' };
  const RUN = turnOf(OWNER);
  const TASK = { ...OWNER, streamRequestId: 'sr_2' };
  const KEY = { kind: 'api_key', value: 'x' } as const;
  const HOUR_MS = 3_600_000;
  const SIGN_IN = signInName('state');
  const ROUND = { ...OWNER, callKey: `${RUN.streamRequestId} call 1`, serverId: 'tracker' };

  const vaultOf = (keys: KeyRing) => createVault({ store: backend.vault, keys });
  const flowsOf = (keys: KeyRing) => createFlows({ store: backend.pages, keys, mintTaker: () => 'taker' });
  const pushesOf = (id: string) =>
    createPushStoreOf(readEnv('api', { PARLEY_VAULT_KEYS: keyEntry(id), NODE_ENV: 'test' }), backend);

  /** Writes a value of each kind, and returns what reads it. */
  const WRITERS: Readonly<Record<SealedKind, () => Promise<(id: string) => Promise<unknown>>>> = {
    async credential() {
      const ref = newRef();
      await vaultOf(ringOf('old')).save(ref, KEY);
      return async (id) => (await vaultOf(ringOf(id)).read(ref))?.credential.reveal();
    },
    async staged() {
      const flow = { ...newRef(), flowId: 'flow' };
      await vaultOf(ringOf('old')).stage(flow, KEY, HOUR_MS);
      return async (id) => (await vaultOf(ringOf(id)).staged(flow))?.reveal();
    },
    async round() {
      await backend.runs.begin(RUN);
      const round = createRoundSeals(ringOf('old')).seal(ROUND, { number: 1, asked: 0, requests: {} });
      const call = { toolCallId: 'call 1', toolName: 'ask', step: 0, state: 'intended', round } as const;
      const note = { type: 'call', call: { ...call, roundServer: 'tracker' } } as const;
      await backend.runs.write(RUN, { term: 1, firstSeq: 2, events: [], notes: [note] });
      return async (id) => {
        const { run } = await backend.runs.read(RUN);
        return createRoundSeals(ringOf(id)).unseal(ROUND, run?.calls[0]?.round ?? '')?.progress;
      };
    },
    async push() {
      const target = { id: 'one', url: 'https://example.com', token: 't', version: '1.0' } as const;
      await pushesOf('old')?.put(TASK, target);
      return async (id) => (await pushesOf(id)?.list(TASK))?.[0];
    },
    async flow() {
      const flow = { browser: 'b', elicitationId: '', flowId: '', ...newRef(), tenant: '', userId: '' };
      await flowsOf(ringOf('old')).begin(SIGN_IN, flow, { verifier: 'v' });
      return (id) => flowsOf(ringOf(id)).callbackStateOf(SIGN_IN);
    },
    async 'push-address'() {
      const task = { ...OWNER, callKey: 'sr_3 call', taskId: 'task', token: 'token' };
      const address = await createPushAddresses(vaultOf(ringOf('old'))).seal(task);
      return (id) => createPushAddresses(vaultOf(ringOf(id))).open(address);
    },
  };

  describe(NAME, () => {
    it('covers each kind of sealed value: each is read, or has ended, before the old key may be removed', async () => {
      const kinds = Object.keys(SEALED_KINDS) as SealedKind[];
      const readers = await Promise.all(kinds.map((kind) => WRITERS[kind]()));
      const readAll = (id: string) => Promise.all(readers.map((read) => read(id)));
      const written = await readAll('old');
      expect(written.filter((value) => value !== undefined)).toHaveLength(kinds.length);
      const lacking = await runRekey({ REDIS_URL: url, PARLEY_VAULT_KEYS: keyEntry('new') });
      expect([lacking.code, lacking.lines.at(-1)?.rekey]).toEqual([1, 'not done']);
      expect(lacking.stderr).toContain('`old`');

      const waiting = await runRekey({ REDIS_URL: url, PARLEY_VAULT_KEYS: keyEntry('new', 'old') });
      expect(waiting.code).toBe(1);
      expect(waiting.lines.at(-1)).toMatchObject({ rekey: 'not done', rewrapped: 5, lapsing: 1 });
      const [, left] = /^1 value.* within (\d+) s/m.exec(waiting.stderr) ?? [];
      expect(Number(left)).toBeGreaterThan(0);
      expect(Number(left)).toBeLessThanOrEqual(900);
      await flowsOf(ringOf('new')).end(SIGN_IN);

      const done = await runRekey({ REDIS_URL: url, PARLEY_VAULT_KEYS: keyEntry('new', 'old') });
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.lines.at(-1)).toMatchObject({ rekey: 'done', activeKey: 'new', seen: 5, rewrapped: 0 });
      const ended = kinds.map((kind, at) => (SEALED_KINDS[kind] === 'lapses' ? undefined : written[at]));
      expect(await readAll('new')).toEqual(ended);
    });

    it('names what is missing, and exits with 1', async () => {
      const { code, stderr } = await runRekey({});
      expect(code).toBe(1);
      expect(stderr).toContain('PARLEY_VAULT_KEYS');
      expect(stderr).toContain('REDIS_URL');
    });
  });
}
