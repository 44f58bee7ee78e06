import { randomUUID } from 'node:crypto';
import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { deliverWebhook, webhookKind, webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { createReceivers } from '@parley/shared/delivery/receivers';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createMemoryOutbox } from '@parley/shared/memory/outbox/outbox';
import type { DeliveryKind } from '@parley/shared/ports/delivery/kind';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import { describe, expect, it } from 'vitest';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { waitUntil } from '../../harness/wait-until.ts';

type Handle = DeliveryKind['handle'];

const resume = resumeTask({ tenant: 'tenant', userId: 'user', streamRequestId: 'sr_1' }, 2);
const webhooks = (count: number, bucketAt = (index: number) => index % BUCKET_COUNT) =>
  Array.from({ length: count }, (_, index) => webhookTask(`el_${index}`, bucketAt(index)));

const done: Handle = async () => 'done';

function dispatchOf(
  tasks: readonly OutboxTask[],
  { webhook = done, resumeRun = done }: { readonly webhook?: Handle; readonly resumeRun?: Handle },
) {
  const outbox = createMemoryOutbox();
  for (const task of tasks) outbox.note(task);
  const faults: unknown[] = [];
  const dispatch = createDispatch({
    outbox,
    kinds: [
      { name: 'webhook', places: 48, handle: webhook },
      { name: 'resume-run', places: 16, handle: resumeRun },
    ],
    onFault: (error) => faults.push(error),
  });
  return { outbox, dispatch, faults };
}

describe('a dispatch', () => {
  const nameless = { places: 1, handle: done };
  it.each([
    [['Two words'], 'cannot name a delivery kind'],
    [[''], 'cannot name a delivery kind'],
    [['letter', 'letter'], 'Two delivery kinds'],
  ])('refuses kinds with the names %j', (names, fault) => {
    const kinds = names.map((name) => ({ name, ...nameless }));
    const create = () => createDispatch({ outbox: createMemoryOutbox(), kinds, onFault: () => undefined });
    expect(create).toThrow(fault);
  });
});

describe('a round of the outbox', () => {
  it.each([
    ['of many people', undefined],
    ['of one person', () => resume.bucket],
  ])('resumes a run although the receivers of a thousand webhooks hang (%s)', async (_whose, bucketAt) => {
    const resumed: OutboxTask[] = [];
    const { dispatch } = dispatchOf([...webhooks(1_000, bucketAt), resume], {
      webhook: () => new Promise<never>(() => undefined),
      async resumeRun(task) {
        resumed.push(task);
        return 'done';
      },
    });
    await dispatch.round();
    expect(resumed).toEqual([resume]);
  });

  it('delivers the webhooks of a tenant although all receivers of another one hang, however many there are', async () => {
    const backend = createMemoryBackend(ROOMY);
    const delivered: string[] = [];
    const receivers = createReceivers();
    const kind = webhookKind((input) =>
      deliverWebhook(
        {
          ...backend,
          send: ({ url }) => {
            if (url.includes('hangs')) return new Promise<never>(() => undefined);
            delivered.push(url);
            return Promise.resolve({ type: 'replied', status: 204 });
          },
          secretsOf: () => [Buffer.alloc(24)],
          observer: { attempted: () => undefined },
          retentionMs: 60_000,
          deadLetterMs: 60_000,
          receivers,
        },
        input,
      ),
    );
    const dispatch = createDispatch({ outbox: backend.outbox, kinds: [kind], onFault: () => undefined });
    const engine = engineOn(backend, {
      deliveries: dispatch,
      settings: { webhooks: { hasSecret: () => true, mayCall: () => true } },
    });
    const end = async (tenant: string, host: string) => {
      const owner = { tenant, userId: randomUUID() };
      const { row } = await askQuestion(engine, owner, { webhookUrl: `https://${host}.example/` });
      await engine.withdraw({ caller: { kind: 'service', tenant }, id: row.id, reason: 'test' });
    };
    for (let index = 0; index < 300; index += 1) await end('hog', `hangs-${index}`);
    for (let index = 0; index < 10; index += 1) await end('acme', `quick-${index}`);
    const areDelivered = async () => {
      await dispatch.round();
      return delivered.length === 10;
    };
    await waitUntil(areDelivered, { what: 'the webhooks of the other tenant' });
  });

  it('continues as places become free, and never uses more places than its kind has', async () => {
    const delivered = new Set<string>();
    let most = 0;
    let underWay = 0;
    const { dispatch } = dispatchOf(webhooks(300), {
      async webhook({ subject }) {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        delivered.add(subject);
        return 'done';
      },
    });
    expect(await dispatch.round()).toBe(300);
    await dispatch.idle();
    expect(delivered.size).toBe(300);
    expect(most).toBeLessThanOrEqual(48);
  });

  it('does not count an attempt that could not be made', async () => {
    const attempts: number[] = [];
    const outcomes = [
      () => Promise.reject(new Error('Redis is unavailable')),
      async () => ({ deferInMs: 0 }) as const,
      async () => ({ retryInMs: 0 }) as const,
      async () => 'done' as const,
    ];
    const { dispatch, faults } = dispatchOf(webhooks(1), {
      webhook(_task, attempt) {
        const outcome = outcomes[attempts.push(attempt) - 1];
        if (outcome === undefined) throw new Error('It was done.');
        return outcome();
      },
    });
    await waitUntil(
      async () => {
        await dispatch.round();
        await dispatch.idle();
        return attempts.length === outcomes.length;
      },
      { what: 'all four' },
    );
    expect(attempts).toEqual([1, 1, 1, 2]);
    expect(faults).toEqual([new Error('Redis is unavailable')]);
    expect(await dispatch.round()).toBe(0);
  });
});
