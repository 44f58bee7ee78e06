import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChildGuard } from '../../../services/api/src/agents/mcp/transports/child-guard.ts';
import {
  endChild,
  MARKS_OF_POD,
  spawnChild,
} from '../../../services/api/src/agents/mcp/transports/child-process.ts';
import {
  MARK,
  startedBy,
  stillRunning,
} from '../../../services/api/src/agents/mcp/transports/process-table.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const GRACE_MS = 200;
const PATH = process.env.PATH ?? '';

/** A program that starts others by a line of shell, which prints their ids, and waits for the end of its input. */
async function program(line: string) {
  const child = await spawnChild({ command: 'sh', args: ['-c', `${line}; exec cat`], env: { PATH } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  const pid = Number(printed.toString().trim());
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  await waitUntil(() => existsSync(`/proc/${pid}`), { what: 'the process' });
  const [self] = (await startedBy(process.pid, '')).filter((each) => each.pid === pid);
  const [known] = self === undefined ? await startedBy(child.pid, '') : [self];
  return {
    child,
    pid,
    runs: async () =>
      existsSync(`/proc/${pid}`) && (known === undefined || (await stillRunning([known])).length > 0),
  };
}

// What a program starts in sessions of its own is found through /proc (docs/acp.md).
if (process.platform === 'linux') describe('the end of a program', suite);
else suiteNotRun('the end of a program', 'this system has no /proc');

function suite(): void {
  it.each([
    ['of its group', 'sleep 300 >/dev/null & echo $!'],
    ['in a session of their own', 'setsid sleep 300 >/dev/null & echo $!'],
    ['whose parent has ended', "setsid sh -c 'sleep 300 >/dev/null & echo $!'"],
    ['with another environment', 'env -i setsid sleep 300 >/dev/null & echo $!'],
  ])('ends the processes %s', async (_what, line) => {
    const { child, runs } = await program(line);
    expect(await runs()).toBe(true);
    await endChild(child, GRACE_MS);
    await waitUntil(async () => !(await runs()), { what: 'the end of what it started' });
  });

  it('by itself ends what it has started in another session', async () => {
    const { child, runs } = await program('setsid sleep 300 >/dev/null & echo $!');
    child.stdin.end();
    await once(child, 'exit');
    await waitUntil(async () => !(await runs()), { what: 'the end of what it started' });
  });

  it('is brought about by the guard of a pod that has ended, whatever session its processes have', async () => {
    const guard = createChildGuard();
    const spawned = ['sleep', 'setsid'].map((command) => {
      const args = command === 'sleep' ? ['300'] : ['sleep', '300'];
      return spawn(command, args, { env: { PATH, [MARK]: `${MARKS_OF_POD}.x` }, stdio: 'ignore' });
    });
    const ends = spawned.map((each) => once(each, 'exit'));
    // As if it had not been told of the other one.
    for (const each of spawned.slice(0, 1)) guard.watch(each, each.pid);
    await guard.close();
    expect((await Promise.all(ends)).map(([, signal]) => signal)).toEqual(['SIGKILL', 'SIGKILL']);
  });

  it('does not touch another program', async () => {
    const [one, other] = [
      await program('setsid sleep 300 >/dev/null & echo $!'),
      await program('setsid sleep 300 >/dev/null & echo $!'),
    ];
    await endChild(one.child, GRACE_MS);
    await waitUntil(async () => !(await one.runs()), { what: 'the end of the one' });
    expect(await other.runs()).toBe(true);
    await endChild(other.child, GRACE_MS);
  });
}
