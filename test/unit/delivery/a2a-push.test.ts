import { bucketOf, type StreamRef } from '@parley/core/domain/ids';
import {
  a2aPushKinds,
  type DeliverPushDeps,
  type PushOutcome,
} from '@parley/shared/delivery/a2a-push/deliver';
import { A2A_DELIVER, A2A_PUSH, createPushStore, deliverTask } from '@parley/shared/delivery/a2a-push/store';
import { createReceivers } from '@parley/shared/delivery/receivers';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import type { FeedEntry } from '@parley/shared/ports/elicitations/feed';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { newStream } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

const stream = newStream();
const target = { id: 'a', url: 'https://receiver.example', token: '', version: '1.0' } as const;

/** The kinds on a feed of these turn events, then what the backend holds of the turn. */
function kindsOn(events: readonly TurnEvent[], send: DeliverPushDeps['send'] = async () => 'delivered') {
  const backend = createMemoryBackend(ROOMY);
  const added: OutboxTask[] = [];
  const attempts: PushOutcome[] = [];
  let position: string | undefined;
  const entries = events.map(
    (event, index): FeedEntry => ({ position: { epoch: '1', seq: index + 1 }, at: 1, event }),
  );
  const run = { ...stream, conversationId: 'talk', input: [{ role: 'user', content: 'hi' }] };
  const [push, delivery] = a2aPushKinds({
    ...backend,
    outbox: { add: async (task) => void added.push(task) },
    runs: { read: async () => ({ run: run as never, now: 1 }) },
    feed: {
      ...backend.feed,
      async read(...request) {
        const page = await backend.feed.read(...request);
        return { type: 'entries', entries: [...entries, ...(page.type === 'entries' ? page.entries : [])] };
      },
    },
    store: {
      slots: async () => [0],
      open: async ({ streamRequestId }: StreamRef) => ({
        target: { ...target, url: `https://${streamRequestId}.example` },
        position,
        async move(to: string) {
          position = to;
          return true;
        },
      }),
      remove: async () => true,
    } as never,
    send,
    receivers: createReceivers(),
    onAttempt: (outcome) => void attempts.push(outcome),
  });
  if (push?.name !== A2A_PUSH || delivery?.name !== A2A_DELIVER) throw new Error('other kinds');
  return {
    backend,
    added,
    attempts,
    push,
    places: delivery.places,
    deliver: (attempt = 1, of: StreamRef = stream) => delivery.handle(deliverTask(of, 0), attempt),
  };
}

const STARTED: TurnEvent[] = [
  { type: 'turn-started', conversationId: 'talk', messageId: 'm', agent: 'helper' },
  { type: 'step-started', step: 0 },
];
const FINISHED: TurnEvent[] = [
  { type: 'text-delta', block: 'b', text: 'Hello' },
  { type: 'turn-finished', reason: 'stop' },
];

describe('the push targets of a task', () => {
  function open() {
    const seals = {
      seal: (_task: unknown, text: string) => text,
      unseal: (_task: unknown, text: string) => text,
    };
    const { pushes } = createMemoryBackend(ROOMY).ownerRecords;
    return createPushStore({ records: pushes, seals, keepMs: 60_000 });
  }
  const at = (url: string, id = 'a') => ({ ...target, id, url });

  it('keep their positions when they are replaced, and a delivery to the one before moves nothing', async () => {
    const store = open();
    const slot = await store.put(stream, at('https://one.example'));
    const one = await store.open(stream, slot);
    expect(await one?.move('1-1')).toBe(true);
    expect(await store.put(stream, at('https://two.example'))).toBe(slot);
    expect(await one?.move('1-2')).toBe(false);
    expect(await store.open(stream, slot)).toMatchObject({
      target: at('https://two.example'),
      position: '1-1',
    });
  });

  it('leave nothing to the next one in their slot, also when a delivery ends after their removal', async () => {
    const store = open();
    const slot = await store.put(stream, at('https://one.example'));
    const [first, second] = [await store.open(stream, slot), await store.open(stream, slot)];
    expect([await first?.move('1-1'), await second?.move('1-2')]).toEqual([true, false]);
    await store.remove(stream, 'a');
    expect(await store.put(stream, at('https://two.example', 'b'))).toBe(slot);
    for (const late of [first, second]) expect(await late?.move('1-3')).toBe(false);
    expect((await store.open(stream, slot))?.position).toBeUndefined();
  });

  it('are one when two configurations with an id come at once', async () => {
    const store = open();
    const urls = ['https://one.example', 'https://two.example', 'https://three.example'];
    await Promise.all(urls.map((url) => store.put(stream, at(url))));
    expect(await store.list(stream)).toHaveLength(1);
  });
});

describe('push notifications of a task', () => {
  afterEach(() => vi.useRealTimers());

  it('are delivered when an approval changes', async () => {
    const { backend, added, push } = kindsOn([]);
    const { row } = await requestApproval(engineOn(backend), stream);
    await push.handle({ kind: A2A_PUSH, subject: row.id, bucket: bucketOf(stream) }, 1);
    expect(added).toEqual([deliverTask(stream, 0)]);
  });

  it('begin no call after which the task could be handed out again', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const begun: number[] = [];
    const started = performance.now();
    const { deliver } = kindsOn([...STARTED, ...FINISHED], async () => {
      begun.push(performance.now() - started);
      vi.advanceTimersByTime(15_000);
      return 'delivered';
    });
    expect(await deliver()).toEqual({ deferInMs: 1 });
    expect(Math.max(...begun)).toBeLessThan(45_000);
    expect(await deliver()).toBe('done');
  });

  it('are looked for again while a task waits, since a process of an earlier version notes no change', async () => {
    const { backend, deliver } = kindsOn(STARTED);
    expect(await deliver()).toBe('done');
    await requestApproval(engineOn(backend), stream);
    expect(await deliver()).toEqual({ restInMs: expect.any(Number) });
  });

  it('of one tenant leave places to the others, however many of its receivers hang', async () => {
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const calls: string[] = [];
    const { deliver, places } = kindsOn(STARTED, async ({ url }) => {
      calls.push(url);
      if (url.includes('hog')) await hanging;
      return 'delivered';
    });
    const hogs = Array.from({ length: 80 }, (_, index) =>
      deliver(1, { ...stream, tenant: 'hog', streamRequestId: `hog-${index}` }),
    );
    expect(await deliver()).toBe('done');
    const underWay = calls.filter((url) => url.includes('hog')).length;
    expect(underWay).toBeGreaterThan(0);
    expect(underWay).toBeLessThan(places);
    release();
    const results = await Promise.all(hogs);
    expect(results.filter((result) => result === 'done')).toHaveLength(underWay);
    expect(results.filter((result) => result !== 'done' && 'deferInMs' in result)).toHaveLength(
      80 - underWay,
    );
  });

  it('are counted by what came of each attempt', async () => {
    const replies = ['delivered', 'failed', 'delivered', 'final'] as const;
    let sent = 0;
    const { attempts, deliver } = kindsOn([...STARTED, ...FINISHED], async () => replies[sent++] ?? 'final');
    expect(await deliver()).toEqual({ retryInMs: expect.any(Number), failure: { code: 'failed' } });
    expect(await deliver()).toBe('done');
    expect(attempts).toEqual(['delivered', 'again', 'delivered', 'dropped']);
    const last = kindsOn(STARTED, async () => 'failed');
    expect(await last.deliver(9)).toBe('done');
    expect(last.attempts).toEqual(['dropped']);
  });
});
