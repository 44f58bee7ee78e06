import { afterEach, describe, expect, it, vi } from 'vitest';
import { suiteNotRun } from '../../harness/not-run.ts';
import { fakeTime } from '../../harness/processes/faketime.ts';
import { type ManagedProcess, type ProcessOptions, startProcess } from '../../harness/processes/processes.ts';

vi.setConfig({ testTimeout: 120_000 });

const ENTRY = 'test/harness/fixtures/echo-pod.ts';
const FORKING = ['sh', '-c', '"$@"; exit $?', 'sh'];
const started: ManagedProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop(0)));
});

async function start(more: Partial<ProcessOptions> = {}): Promise<ManagedProcess> {
  const pod = await startProcess({
    name: 'pod',
    entry: ENTRY,
    readyWhen: (line) => line.listening === true,
    ...more,
  });
  started.push(pod);
  return pod;
}

const get = (pod: ManagedProcess, withinMs: number) =>
  fetch(`http://127.0.0.1:${Number(pod.ready.port)}`, { signal: AbortSignal.timeout(withinMs) });

describe('startProcess', () => {
  it('returns the ready line and all output, and passes only the given environment', async () => {
    const pod = await start({ env: { ONLY: 'this' } });
    expect(pod.ready.pid).toBe(pod.pid);
    expect(pod.ready.env).toEqual(expect.arrayContaining(['HOME', 'ONLY', 'PATH']));
    expect(pod.ready.env).not.toContain('VITEST');
    expect(await pod.stop()).toEqual({ code: 0, signal: null });
    expect(pod.lines).toContain('not json');
    expect(pod.lines).toContain('{"drained":true}');
    expect(pod.stderr).toContain('a warning');
  });

  it('kills the process and its children', async () => {
    const pod = await start();
    pod.kill('SIGKILL');
    expect(await pod.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(get(pod, 1_000)).rejects.toThrow();
    expect(await pod.stop()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('freezes and thaws', async () => {
    const pod = await start();
    pod.freeze();
    await expect(get(pod, 300)).rejects.toThrow();
    pod.thaw();
    expect((await get(pod, 10_000)).status).toBe(200);
    pod.freeze();
    expect(await pod.stop()).toEqual({ code: 0, signal: null });
  });

  it('rejects with the last output when the process ends before it is ready', async () => {
    const failing = start({ entry: 'test/harness/fixtures/failing-pod.ts' });
    await expect(failing).rejects.toThrow(/pod ended with 3 before it was ready:\nthe reason is here/);
    await expect(start({ entry: 'no/such/file.ts' })).rejects.toThrow('no/such/file.ts');
    await expect(start({ wrap: ['no-such-command'] })).rejects.toThrow('no-such-command');
  });

  it('rejects, and leaves no process behind, when the process never gets ready', async () => {
    const silent = ['sh', '-c', 'echo "{\\"pid\\":$$}"; exec sleep 100', 'sh'];
    const failure: unknown = await start({ wrap: silent, readyTimeoutMs: 2_000 }).catch(
      (error: unknown) => error,
    );
    const [, pid] = /was not ready after 2000 ms:\n\{"pid":(\d+)\}/.exec(String(failure)) ?? [];
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  });

  it('reaches node under a wrapper that forks', async () => {
    const pod = await start({ wrap: FORKING });
    expect(pod.ready.pid).toBe(pod.pid);
    pod.kill('SIGTERM');
    expect(await pod.exited).toEqual({ code: 0, signal: null });
    expect(pod.lines).toContain('{"drained":true}');
  });

  it('freezes and ends node under a wrapper that forks', async () => {
    const pod = await start({ wrap: FORKING });
    pod.freeze();
    await expect(get(pod, 300)).rejects.toThrow();
    await pod.stop();
    expect(() => process.kill(pod.pid, 0)).toThrow('ESRCH');
  });
});

function fakeTimeTests(): void {
  it('shifts the clock of one process, either way, and takes signals', async () => {
    for (const offset of [3_600, -3_600]) {
      const fake = await fakeTime(offset);
      if (!fake) throw new Error('faketime gave no library');
      const pod = await start(fake);
      const shift = Math.round((Number(pod.ready.now) - Date.now()) / 60_000);
      expect(shift).toBe(offset / 60);
      pod.kill('SIGKILL');
      expect(await pod.exited).toEqual({ code: null, signal: 'SIGKILL' });
    }
  });
}

// Installed where that is allowed; where it is not, there is nothing to test.
if ((await fakeTime(0)) === undefined)
  suiteNotRun('fakeTime', 'no faketime on the path, and none can be installed');
else describe('fakeTime', fakeTimeTests);
