import { mintStreamRequestId } from '@parley/core/domain/ids';
import { offerOrphans } from '@parley/shared/runs/offer-orphans';
import { expect, it } from 'vitest';

function found() {
  return { stream: { tenant: 't', userId: 'u', streamRequestId: mintStreamRequestId() }, term: 1 };
}

it('an offer that fails ends the round as its error, and nothing else of the process', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  async function* ownedBy() {
    yield found();
    // The index is read on while offers are under way.
    await new Promise((resolve) => setImmediate(resolve));
    yield found();
  }
  const round = offerOrphans(
    {
      runs: { ownedBy },
      heartbeats: { lapsed: async () => ['dead'], forget: async () => undefined },
      runQueue: {
        async offer() {
          throw new Error('The queue is unavailable.');
        },
      },
    },
    { evenIfNoneLapsed: false },
  );
  await expect(round).rejects.toThrow('The queue is unavailable.');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
