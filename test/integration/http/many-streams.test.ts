import { EventEmitter, getEventListeners } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Caller } from '@parley/shared/domain/caller';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import { type RestDeps, restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion, newOwner, serviceOf, userOf } from '../../harness/engines/questions.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';

// More than any part of the pod has of its own.
const STREAMS = 40;
const PERIOD_MS = 16_000;

/** Everything that got a listener while the test ran: at most how many it has now. */
function countListeners() {
  const targets = new Set<EventTarget | EventEmitter>();
  const note = <Args extends unknown[], Result>(original: (...args: Args) => Result) =>
    function (this: EventTarget | EventEmitter, ...args: Args) {
      targets.add(this);
      return original.apply(this as never, args);
    };
  const { addEventListener } = EventTarget.prototype;
  const { on, once } = EventEmitter.prototype;
  vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(note(addEventListener) as never);
  vi.spyOn(EventEmitter.prototype, 'on').mockImplementation(note(on) as never);
  vi.spyOn(EventEmitter.prototype, 'once').mockImplementation(note(once) as never);
  onTestFinished(() => void vi.restoreAllMocks());
  const countOf = (target: EventTarget | EventEmitter) =>
    target instanceof EventEmitter
      ? Math.max(0, ...target.eventNames().map((name) => target.listenerCount(name)))
      : getEventListeners(target, 'abort').length;
  return { max: () => Math.max(...[...targets].map(countOf)) };
}

it('streams have one heartbeat in each period, by one timer', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const heartbeats = createHeartbeats(PERIOD_MS);
  const counts = Array.from({ length: STREAMS }, () => 0);
  const ends = counts.map((_, stream) => {
    vi.advanceTimersByTime(PERIOD_MS / STREAMS);
    return heartbeats.add(() => {
      counts[stream] = (counts[stream] ?? 0) + 1;
    });
  });
  expect(vi.getTimerCount()).toBe(1);
  expect(Math.max(...counts)).toBe(0);
  vi.advanceTimersByTime(10 * PERIOD_MS);
  expect(new Set(counts)).toEqual(new Set([10]));
  for (const end of [...ends, ...ends]) end();
  vi.advanceTimersByTime(2 * PERIOD_MS);
  expect([vi.getTimerCount(), new Set(counts)]).toEqual([0, new Set([10])]);
});

await describeOnRedis('a pod with many readers', (pods) => {
  it('has no signal and no emitter that each of them adds a listener to, and no interval for each', async () => {
    const owner = newOwner();
    const engine = engineOn(pods.backend);
    const drain = createDrain();
    const limits = callLimitsOn(pods.backend.limits);
    const { row } = await askQuestion(engine, owner);
    const listeners = countListeners();
    const intervals = vi.spyOn(globalThis, 'setInterval');
    const served = await serveSurfaces({
      surfaces: [restRoutes({ engine, limits, workflows: {}, webhooks: {} } as RestDeps)],
      authenticate: async ({ headers }) => ({
        caller: (headers.authorization === 'user' ? userOf(owner) : serviceOf(owner)) as Caller,
        expiresAtMs: Number.POSITIVE_INFINITY,
      }),
      limits,
      drain,
    });
    onTestFinished(served.close);
    const paths = [
      ['service', `/v1/streams/${row.definition.streamRequestId}/events?userId=${owner.userId}`],
      ['user', '/v1/inbox/events'],
    ] as const;
    const open = (authorization: string, path: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { authorization };
        get(`${served.url}${path}`, { agent: false, headers }, resolve).once('error', reject);
      });
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, () => paths.map(([caller, path]) => open(caller, path))).flat(),
    );
    const ended = streams.map(
      (stream) => new Promise((resolve) => stream.once('close', resolve).on('error', () => undefined)),
    );
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('data', resolve))));
    expect(listeners.max()).toBeLessThan(STREAMS);
    expect(intervals.mock.calls.length).toBeLessThan(STREAMS);
    for (const stream of streams) stream.resume();
    drain.begin();
    await Promise.all(ended);
  });
});
