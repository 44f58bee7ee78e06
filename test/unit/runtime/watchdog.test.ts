import { afterEach, expect, it } from 'vitest';
import { type ManagedProcess, startProcess } from '../../harness/processes/start-process.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let program: ManagedProcess | undefined;
afterEach(() => program?.stop(0));

/** A program that ends once its event loop has not turned for a second. */
async function startWatched(): Promise<ManagedProcess> {
  program = await startProcess({
    name: 'the watched program',
    entry: 'test/harness/fixtures/watched-program.ts',
    env: { LIMIT_MS: '1000' },
    readyWhen: (line) => line.turned === true,
  });
  return program;
}

it('a process whose event loop no longer turns ends, and says which function keeps it busy', async () => {
  const watched = await startWatched();
  watched.kill('SIGUSR2');
  // It exits by itself: the first process of a container cannot kill itself with a signal.
  expect(await watched.exited).toEqual({ code: 70, signal: null });
  const said = JSON.parse(watched.stderr.at(0) ?? '{}') as { msg?: string; stack?: string[] };
  expect(said.msg).toContain('has not turned for 1000 ms');
  expect(said.stack?.join()).toContain('spin');
});

it('a process that was paused for longer than the limit goes on', async () => {
  const watched = await startWatched();
  const lines = () => watched.lines.length;
  watched.freeze();
  const control = performance.now();
  await waitUntil(() => performance.now() - control > 2_500, { what: 'more than the limit to pass' });
  const before = lines();
  watched.thaw();
  // It turns for longer than the limit again, so that a watchdog that counted the pause would have ended it.
  await waitUntil(() => lines() > before + 75, { what: 'the event loop to turn again' });
  expect(watched.stderr).toEqual([]);
});
