import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { LOAD_ENV } from '../../harness/load/load-env.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { killWithParent } from '../../harness/processes/child-guard.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** A pipe that is full because nobody reads it. Returns the file descriptor for a program that writes into it. */
function openFullPipe(): number {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  // Opened for both, a pipe waits for no reader.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => {
    closeSync(pipe);
    rmSync(folder, { recursive: true, force: true });
  });
  expect(() => {
    for (;;) writeSync(pipe, 'a line\n');
  }).toThrow(/EAGAIN/);
  return pipe;
}

it.each([
  ['api', 'PORT'],
  ['worker', 'PARLEY_METRICS_PORT'],
])('the %s ends on SIGTERM, although nobody reads its log', async (service, variable) => {
  const port = `${await freePort()}`;
  const program = await bundleEntry(`services/${service}/src/main.ts`);
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env.PATH,
      ...LOAD_ENV,
      PARLEY_LOG_LEVEL: 'info',
      PARLEY_DRAIN_DELAY_MS: '0',
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      PORT: '0',
      PARLEY_METRICS_PORT: '0',
      [variable]: port,
    },
    stdio: ['ignore', openFullPipe(), 'ignore'],
  });
  killWithParent(child);
  const exited = once(child, 'exit');
  const hasLogged = async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`);
    return ((await reply.json()) as { reason?: string }).reason === 'refused';
  };
  await waitUntil(hasLogged, { what: 'a line in the log: why Redis cannot be used', everyMs: 250 });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
