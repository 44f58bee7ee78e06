import { once } from 'node:events';
import { createLog } from '@parley/shared/observe/log';
import { createReleasers, onShutdown, type ShutdownOptions } from '@parley/shared/runtime/lifecycle';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';

describe('createReleasers', () => {
  it('releases in reverse order, one after the other', async () => {
    const releasers = createReleasers();
    const steps: string[] = [];
    for (const name of ['redis', 'engine', 'server']) {
      releasers.add(async () => {
        steps.push(`${name} closing`);
        await new Promise((resolve) => setImmediate(resolve));
        steps.push(`${name} closed`);
      });
    }
    releasers.add(() => steps.push('plain function'));
    await releasers.release();
    expect(steps).toEqual([
      'plain function',
      ...['server closing', 'server closed', 'engine closing', 'engine closed'],
      ...['redis closing', 'redis closed'],
    ]);
  });

  it('releases everything although some fail, and throws the first error', async () => {
    const releasers = createReleasers();
    const steps: string[] = [];
    releasers.add(() => steps.push('last'));
    releasers.add(() => Promise.reject(new Error('second')));
    releasers.add(() => {
      throw new Error('first');
    });
    await expect(releasers.release()).rejects.toThrow('first');
    expect(steps).toEqual(['last']);
  });

  it('refuses to release twice, or to add a resource afterwards', async () => {
    const releasers = createReleasers();
    let released = 0;
    releasers.add(() => {
      released += 1;
    });
    await Promise.all([releasers.release(), expect(releasers.release()).rejects.toThrow('already')]);
    expect(() => releasers.add(() => undefined)).toThrow('already');
    expect(released).toBe(1);
  });
});

/** A signal that nothing else in this process handles. */
const SIGNAL = 'SIGUSR2';
/** A promise that is kept by hand. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
const NEVER = () => new Promise<void>(() => undefined);

describe('onShutdown', () => {
  let stopListening: (() => void) | undefined;
  afterEach(() => stopListening?.());

  /** Listens with `drain`; gives the exit codes and log words so far. */
  function listen(options: Pick<ShutdownOptions, 'drain'> & Partial<ShutdownOptions>) {
    const exits: number[] = [];
    const words: unknown[] = [];
    const log = createLog(
      { service: 'test', level: 'info', pod: 'pod-1' },
      { write: (line) => words.push((JSON.parse(line) as { msg: unknown }).msg) },
    );
    const exit = (code: number) => exits.push(code);
    stopListening = onShutdown({ signals: [SIGNAL], deadlineMs: 60_000, log, exit, ...options });
    return { exits, words };
  }

  /** Sends this process the signal and waits until every listener had it. */
  async function signal(): Promise<void> {
    const signalled = once(process, SIGNAL);
    process.kill(process.pid, SIGNAL);
    await signalled;
  }

  it('exits with 0 when the drain is done, and not before', async () => {
    const drained = gate();
    const { exits, words } = listen({ drain: () => drained.opened });
    await signal();
    expect(words).toEqual(['draining']);
    expect(exits).toEqual([]);
    drained.open();
    await waitUntil(() => exits.length > 0, { what: 'the exit' });
    expect(exits).toEqual([0]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no Redis'))],
    [
      'throws',
      () => {
        throw new Error('no Redis');
      },
    ],
  ])('exits with 1 when the drain %s', async (_how, drain) => {
    const { exits, words } = listen({ drain });
    await signal();
    await waitUntil(() => exits.length > 0, { what: 'the exit' });
    expect(exits).toEqual([1]);
    expect(words).toEqual(['draining', 'drain failed']);
  });

  it('exits with 1, once, at the deadline of a drain that hangs', async () => {
    const drained = gate();
    const { exits, words } = listen({ drain: () => drained.opened, deadlineMs: 20 });
    await signal();
    await waitUntil(() => exits.length > 0, { what: 'the exit' });
    drained.open();
    await signal();
    expect(exits).toEqual([1]);
    expect(words).toContain('drain took too long, exiting');
  });

  it('exits at once at a second signal', async () => {
    const { exits } = listen({ drain: NEVER, repeatMs: 0 });
    await signal();
    expect(exits).toEqual([]);
    await signal();
    expect(exits).toEqual([1]);
  });

  it('treats one key press that arrives twice as one, and drains once', async () => {
    let drains = 0;
    const { exits, words } = listen({
      drain: () => {
        drains += 1;
        return NEVER();
      },
      repeatMs: 60_000,
    });
    await signal();
    await signal();
    expect({ drains, exits, words }).toEqual({ drains: 1, exits: [], words: ['draining'] });
  });

  it('removes its signal handlers when stopped', async () => {
    const before = process.listenerCount(SIGNAL);
    listen({ drain: NEVER });
    expect(process.listenerCount(SIGNAL)).toBe(before + 1);
    stopListening?.();
    expect(process.listenerCount(SIGNAL)).toBe(before);
  });
});
