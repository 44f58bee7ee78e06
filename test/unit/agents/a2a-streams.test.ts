import { DETACHED } from '@parley/shared/domain/runs/run';
import { RunDetachedError, RunInterruptedError } from '@parley/shared/runs/interruption';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventStream } from '../../../services/api/src/agents/a2a/exchanges.ts';
import { createFollower, type Follower } from '../../../services/api/src/agents/a2a/follow/follower.ts';
import { followPushes } from '../../../services/api/src/agents/a2a/follow/pushes.ts';
import { createCallWaker, type WakeCallDeps } from '../../../services/api/src/agents/a2a/follow/wake-call.ts';
import { markOf } from '../../../services/api/src/agents/a2a/remote-task.ts';
import type { TaskRun } from '../../../services/api/src/agents/a2a/task-run.ts';
import { guardEvents } from '../../../services/api/src/agents/remote/event-guard.ts';
import { waitUntil } from '../../harness/wait-until.ts';

afterEach(() => void vi.useRealTimers());

/** What the guard passes on of a stream that comes in chunks of this size. */
function guarded(text: string, size: number): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  let from = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (from >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(from, from + size));
      from += size;
    },
  });
  return guardEvents(new Response(body, { headers: { 'content-type': 'text/event-stream' } })).text();
}

describe('the guard of a stream', () => {
  it.each(['\n', '\r\n'])('passes whole events on, however they are cut (%j)', async (end) => {
    const text = [
      `: note${end}${end}`,
      `data: {"a":${end}data: "é"}${end}${end}`,
      `data: 1${end}${end}`,
    ].join('');
    for (const size of [1, 2, 3, 7, 100])
      expect(await guarded(text, size)).toBe(text.replaceAll('\r\n', '\n'));
  });

  it('ends the stream at data that is no JSON', async () => {
    await expect(guarded('data: 1\n\ndata: x\n\n', 3)).rejects.toThrow();
  });

  it('reads a large event in small chunks once, not once for each chunk', async () => {
    const cpuOf = async (length: number) => {
      const text = `data: "${'x'.repeat(length)}"\n\n`;
      const before = process.cpuUsage();
      expect(await guarded(text, 128)).toHaveLength(text.length);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await cpuOf(250_000);
    // Eight times the event takes some eight times the work; read again for each chunk, sixty-four times.
    expect(await cpuOf(2_000_000)).toBeLessThan(25 * (await cpuOf(250_000)));
  });
});

describe('a stream that does not end', () => {
  it('is read no faster than 256 kB a second after the first 2.5 MB', async () => {
    vi.useFakeTimers();
    let passed = 0;
    const event = Buffer.from(`data: "${'x'.repeat(99_990)}"\n\n`);
    let left = 100;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        left -= 1;
        return left < 0 ? controller.close() : controller.enqueue(event);
      },
    });
    const { body: guarded } = guardEvents(
      new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    );
    const reader = guarded?.getReader();
    void (async () => {
      while ((await reader?.read())?.done === false) passed += event.length;
    })();
    const readIn = async (ms: number) => {
      const before = passed;
      await vi.advanceTimersByTimeAsync(ms);
      return (passed - before) / 1_000_000;
    };
    expect(await readIn(1_000)).toBeCloseTo(2.8, 0);
    expect(await readIn(10_000)).toBeCloseTo(2.6, 0);
    await reader?.cancel();
  });
});

describe('the follower of a task', () => {
  function follow(lastsMs: number) {
    vi.useFakeTimers();
    let subscriptions = 0;
    const subscribe = (): EventStream => {
      subscriptions += 1;
      return {
        async read(onEvent) {
          onEvent('other');
          await new Promise((resolve) => setTimeout(resolve, lastsMs));
        },
        close: () => undefined,
      };
    };
    const wake = { wake: () => undefined, sleep: async () => undefined };
    const link = { isStreaming: true, subscribe };
    const follower = createFollower(link, 'task', wake, new AbortController().signal);
    return { follower, subscriptions: () => subscriptions };
  }

  it('subscribes ever less often where the agent ends each stream after the task itself', async () => {
    const { follower, subscriptions } = follow(1);
    await vi.advanceTimersByTimeAsync(120_000);
    follower.close();
    expect(subscriptions()).toBeLessThan(15);
  });

  it('subscribes soon after a stream that lasted, or when the task has changed', async () => {
    const { follower, subscriptions } = follow(1);
    await vi.advanceTimersByTimeAsync(60_000);
    follower.changed();
    const before = subscriptions();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(subscriptions()).toBeGreaterThan(before + 2);
    follower.close();
    const lasting = follow(10_000);
    await vi.advanceTimersByTimeAsync(103_000);
    expect(lasting.subscriptions()).toBeGreaterThan(9);
    lasting.follower.close();
  });

  it('reads a task that is pushed less often, whether or not a person is asked', () => {
    const { follower } = follow(1);
    follower.pushed();
    const pauses = Array.from({ length: 6 }, () => follower.nextReadMs(true));
    follower.changed();
    follower.close();
    expect(pauses).toEqual([5_000, 10_000, 20_000, 30_000, 30_000, 30_000]);
    expect(follower.nextReadMs(false)).toBe(5_000);
  });
});

describe('a task that is read again', () => {
  const status = { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: '2026-01-01T00:00:00Z' };

  it('has not changed with a new time alone', () => {
    expect(markOf({ status: { ...status, timestamp: '2026-01-01T00:00:01Z' } })).toBe(markOf({ status }));
    expect(markOf({ status: { ...status, state: 'TASK_STATE_WORKING' } })).not.toBe(markOf({ status }));
  });
});

describe('a push that comes while a pod loses the turn', () => {
  function open(reason: Error) {
    let push: (mayBeMissed: boolean) => void = () => undefined;
    const state = { forwarded: 0 };
    const ending = new AbortController();
    const releasing = new AbortController();
    const run = {
      link: { offersPush: true, agent: { mayPush: true } },
      call: { callKey: 'sr_1 call', signal: ending.signal, released: releasing.signal },
      state: { taskId: 'task' },
      pushes: {
        subscribe(onPush: typeof push) {
          push = onPush;
          return () => undefined;
        },
        async forward() {
          state.forwarded += 1;
        },
      },
    } as unknown as TaskRun;
    const follower = { pushed: () => undefined } as Follower;
    const wake = { wake: () => undefined, sleep: async () => undefined };
    const pushed = followPushes(run, { wake, follower, signal: ending.signal });
    push(true);
    push(false);
    const close = () => {
      ending.abort(reason);
      pushed.close();
    };
    return { state, pushed, push: () => push(false), close, release: () => releasing.abort() };
  }

  it.each([
    ['is passed on once the turn is detached', new RunDetachedError(), 1],
    ['is not passed on when the turn ends', new Error('stopped'), 0],
    ['is not passed on to a pod that continues the turn at once', new RunInterruptedError(), 0],
  ])('%s', (_, reason, forwards) => {
    const { state, pushed, push, close, release } = open(reason);
    pushed.reading()();
    push();
    close();
    expect(state.forwarded).toBe(0);
    release();
    expect(state.forwarded).toBe(forwards);
  });

  it('is passed on when it came during the last reading of the task, or before the turn was detached', () => {
    const during = open(new RunDetachedError());
    const attended = during.pushed.reading();
    during.push();
    attended();
    const after = open(new RunDetachedError());
    after.pushed.reading()();
    during.close();
    after.close();
    after.push();
    for (const { state, release } of [during, after]) {
      release();
      expect(state.forwarded).toBe(1);
    }
  });

  it('is not passed on when what it is about was read', () => {
    const { state, pushed, close, release } = open(new RunDetachedError());
    pushed.reading()();
    close();
    release();
    expect(state.forwarded).toBe(0);
  });
});

describe('a push about a turn that was resumed a moment ago', () => {
  it('has it resumed later, once for several pushes', async () => {
    let takes = 0;
    const resumed: number[] = [];
    const deps = {
      pushedCalls: { publish: async () => undefined },
      limits: {
        async take() {
          takes += 1;
          return takes <= 2 ? { allowed: false, retryAfterSeconds: 0.02 } : { allowed: true };
        },
      },
      runs: {
        standing: async () => ({ status: 'running', owner: DETACHED, term: 3 }),
        async takeOver(_stream: unknown, term: number) {
          resumed.push(term);
        },
      },
    } as unknown as WakeCallDeps;
    const wake = createCallWaker(deps);
    const call = { tenant: 't', userId: 'u', callKey: 'sr_1 call' };
    expect(await Promise.all([wake(call), wake(call)])).toEqual([true, true]);
    expect(resumed).toEqual([]);
    await waitUntil(() => resumed.length > 0, { what: 'the resumption' });
    expect({ resumed, takes }).toEqual({ resumed: [3], takes: 3 });
  });
});
