import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../harness/engines/contract.ts';

const HOUR_MS = 3_600_000;
const newName = () => ({ family: 'flow', id: `flow ${randomUUID()}` }) as const;

/** What hosted pages keep: read on every pod, given to one taker, and gone with its time. */
export function pageStoreContract(contract: Contract): void {
  describe('what hosted pages keep', () => {
    const open = () => [contract.pods.backend.pages, contract.pods.second.pages] as const;

    it('can be read by every pod, under its own family only', async () => {
      const [here, there] = open();
      const name = newName();
      await here.put(name, 'one', HOUR_MS);
      expect(await there.read(name)).toEqual({ value: 'one', taken: false });
      expect(await there.read({ ...name, family: 'sign-in' })).toBeUndefined();
      await there.put(name, 'two', HOUR_MS);
      expect(await here.read(name)).toEqual({ value: 'two', taken: false });
    });

    it('is given to one taker only, and again to the same one', async () => {
      const stores = open();
      const [here, there] = stores;
      const name = newName();
      await here.put(name, 'one', HOUR_MS);
      const takers = Array.from({ length: 20 }, (_, index) => `taker ${index}`);
      const given = await Promise.all(takers.map((taker, index) => stores[index % 2]?.take(name, taker)));
      const winners = takers.filter((_, index) => given[index] === 'one');
      expect(winners).toHaveLength(1);
      expect(await there.take(name, winners[0] ?? '')).toBe('one');
      expect(await here.take(name, 'late')).toBeUndefined();
      expect(await here.read(name)).toEqual({ value: 'one', taken: true });
      expect(await here.take(newName(), 'anybody')).toBeUndefined();
    });

    it('is deleted when it is dropped, and by its expiry', async () => {
      const [here, there] = open();
      const [dropped, lapsing] = [newName(), newName()];
      await here.put(dropped, 'one', HOUR_MS);
      for (const _ of [1, 2]) await there.drop(dropped);
      await here.put(lapsing, 'one', 20);
      await expect.poll(() => there.read(lapsing)).toBeUndefined();
      for (const name of [dropped, lapsing]) {
        expect(await here.read(name)).toBeUndefined();
        expect(await here.take(name, 'anybody')).toBeUndefined();
      }
    });
  });
}
