import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createMcpBench, REVISIONS, saidIn as said, stdioConfig } from '../../harness/mcp-servers/setup.ts';
import { bundleEntry } from '../../harness/processes/bundle.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const bench = createMcpBench();
afterEach(bench.close);

const HOLDER = await bundleEntry('test/harness/mcp-servers/holder.ts');
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process that uses a stubborn program and an HTTP server. */
const startHolder = (way: 'stays' | 'closes') =>
  spawn(process.execPath, [HOLDER, way], { stdio: ['ignore', 'pipe', 'inherit'] });

describe.each(REVISIONS)('a program of the %s revision', (revision) => {
  it('is listed and called, has only its own environment, loses a result that is too large and a call that hangs alone, and has exited after close', async () => {
    const client = bench.client({ resultBytesMax: 10_000, messageBytesMax: 50_000 });
    const server = client.open(await stdioConfig([revision], { ONLY: 'this' }));
    const list = await server.listTools();
    expect(list).toMatchObject({ type: 'tools', dropped: [] });
    expect(said(await server.call('echo', { text: 'hello' }))).toBe('hello');
    if (revision === 'new')
      expect(await server.call('later', {})).toMatchObject({ type: 'task', taskId: 'job', pollMs: 5 });
    const environment = JSON.parse(said(await server.call('environment', {})));
    expect(environment).toEqual({ ONLY: 'this', PARLEY_PROGRAM: expect.any(String) });
    const pids = [await server.call('pid', {}), await server.call('child', {})].map((one) =>
      Number(said(one)),
    );
    for (const bytes of [20_000, 500_000])
      expect(await server.call('big', { bytes })).toMatchObject({ type: 'result', isError: true });
    const timeout = { type: 'timeout', dispatched: 'maybe' };
    expect(await server.call('hang', {}, { timeoutMs: 500 })).toEqual(timeout);
    expect(said(await server.call('pid', {}))).toBe(String(pids[0]));
    expect(pids.every(isAlive)).toBe(true);
    await client.close();
    // What it started in turn may still be on its way out.
    await waitUntil(() => !pids.some(isAlive), { what: 'both processes to be gone' });
    expect(await server.call('echo', {})).toMatchObject({ type: 'unavailable', dispatched: 'no' });
  });

  it('that crashes in a call is started again [T26-29]', async () => {
    const server = bench.client({ restartMinMs: 20 }).open(await stdioConfig([revision]));
    const before = said(await server.call('pid', {}));
    const [crashed, beside] = await Promise.all([server.call('crash', {}), server.call('hang', {})]);
    expect(crashed).toMatchObject({ type: 'unavailable', dispatched: 'maybe' });
    expect(beside).toMatchObject({ type: 'unavailable', dispatched: 'maybe' });
    const after = said(await server.call('pid', {}));
    expect(Number(after)).toBeGreaterThan(0);
    expect(after).not.toBe(before);
  });

  it('keeps its secrets, and does not flood the log [T25-36]', async () => {
    const lines: string[] = [];
    const client = bench.client({}, (id, line) => lines.push(`${id}: ${line}`));
    const config = await stdioConfig([revision, 'noisy'], { API_KEY: 'canary-1234567' });
    // One of the new revision alone is started twice, unless the configuration says it.
    const server = client.open(revision === 'new' ? { ...config, revision: '2026-07-28' } : config);
    await server.call('echo', {});
    await waitUntil(() => lines.some((line) => line.includes('left out')), { what: 'the last line' });
    expect(lines[0]).toBe('local: the key is [redacted]');
    expect(lines).toHaveLength(61);
    expect(said(await server.call('environment', {}))).not.toContain('canary');
  });
});

describe('a program', () => {
  it('is not called when the call timed out while it was started', async () => {
    const server = bench.client().open(await stdioConfig(['new']));
    expect(await server.call('echo', {}, { timeoutMs: 10 })).toEqual({ type: 'timeout', dispatched: 'no' });
    expect(said(await server.call('count', {}))).toBe('1');
  });

  it('that exits neither at the end of its input nor on SIGTERM is killed [T25-35]', async () => {
    const client = bench.client({ killGraceMs: 50 });
    const pid = Number(said(await client.open(await stdioConfig(['new', 'stubborn'])).call('pid', {})));
    expect(isAlive(pid)).toBe(true);
    await client.close();
    expect(isAlive(pid)).toBe(false);
  });

  it('of the old revision that exits when asked for the new one is still usable [T26-30]', async () => {
    const server = bench.client().open(await stdioConfig(['old', 'dies-at-probe']));
    expect(said(await server.call('echo', { text: 'hello' }))).toBe('hello');
  });

  it('of the old revision that does not answer unknown requests is still usable [T26-30]', async () => {
    const server = bench.client({ connectTimeoutMs: 10_000 }).open(await stdioConfig(['old', 'silent']));
    expect(said(await server.call('echo', { text: 'hello' }))).toBe('hello');
  });

  it('does not outlive a pod that is killed with SIGKILL', async () => {
    const holder = startHolder('stays');
    const pid = Number((await once(holder.stdout, 'data'))[0]);
    expect(isAlive(pid)).toBe(true);
    holder.kill('SIGKILL');
    await waitUntil(() => !isAlive(pid), { what: 'the program to be gone' });
  });

  it('does not prevent the exit of the pod', async () => {
    const holder = startHolder('closes');
    const [code] = await once(holder, 'exit');
    expect(code).toBe(0);
  });

  it('that does not exist, or exits at once, is not started in a loop', async () => {
    const client = bench.client({ restartMinMs: 60_000, restartMaxMs: 60_000 });
    const missing = { type: 'stdio', command: '/nowhere/at-all' } as const;
    const nowhere = client.open({ id: 'nowhere', title: 'Nowhere', transport: missing });
    expect(await nowhere.call('echo', {})).toEqual({
      type: 'unavailable',
      message: 'The program of the server cannot be started.',
      dispatched: 'no',
    });
    const dying = { type: 'stdio', command: '/bin/sh', args: ['-c', 'exit 1'] } as const;
    const server = client.open({ id: 'dying', title: 'Dying', transport: dying });
    expect(await server.call('echo', {})).toMatchObject({ type: 'unavailable', dispatched: 'no' });
    expect(await server.call('echo', {}, { timeoutMs: 50 })).toEqual({ type: 'timeout', dispatched: 'no' });
  });
});
