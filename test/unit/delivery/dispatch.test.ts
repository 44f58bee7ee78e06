import { createDispatch } from '@parley/shared/delivery/dispatch';
import { mintElicitationId } from '@parley/shared/domain/ids';
import { createMemoryOutbox } from '@parley/shared/memory/outbox';
import type { OutboxHandlers, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';

const OWNER = { tenant: 'tenant', userId: 'user' };
const webhooks = (count: number, owner = (index: number) => ({ ...OWNER, userId: `user-${index}` })) =>
  Array.from(
    { length: count },
    (_, index): OutboxTask => ({
      kind: 'webhook',
      elicitationId: mintElicitationId(owner(index)),
    }),
  );
const wake: OutboxTask = { kind: 'wake', stream: { ...OWNER, streamRequestId: 'sr_1' }, term: 2 };

function dispatchOf(tasks: readonly OutboxTask[], handlers: Partial<OutboxHandlers>) {
  const outbox = createMemoryOutbox();
  for (const task of tasks) outbox.note(task);
  const faults: unknown[] = [];
  const dispatch = createDispatch({
    outbox,
    handlers: { wake: async () => 'done', webhook: async () => 'done', ...handlers },
    onFault: (error) => faults.push(error),
  });
  return { outbox, dispatch, faults };
}

describe('a round of the outbox', () => {
  it.each([
    ['of many people', undefined],
    ['of one person', () => OWNER],
  ])('wakes a turn although the receivers of a thousand webhooks %s hang', async (_whose, owner) => {
    const woken: OutboxTask[] = [];
    const { dispatch } = dispatchOf([...webhooks(1_000, owner), wake], {
      webhook: () => new Promise<never>(() => undefined),
      async wake(task) {
        woken.push(task);
        return 'done';
      },
    });
    await dispatch.round();
    expect(woken).toEqual([wake]);
  });

  it('goes on while places become free, and never has more under way than there are', async () => {
    const done = new Set<string>();
    let most = 0;
    let underWay = 0;
    const { dispatch } = dispatchOf(webhooks(300), {
      async webhook({ elicitationId }) {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        done.add(elicitationId);
        return 'done';
      },
    });
    expect(await dispatch.round()).toBe(300);
    await dispatch.idle();
    expect(done.size).toBe(300);
    expect(most).toBeLessThanOrEqual(48);
  });

  it('does not count as a try what could not be tried', async () => {
    const attempts: number[] = [];
    const outcomes = [
      () => Promise.reject(new Error('Redis is away')),
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
    expect(faults).toEqual([new Error('Redis is away')]);
    expect(await dispatch.round()).toBe(0);
  });
});
