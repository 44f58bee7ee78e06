import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { newOwner } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const A_DAY = 86_400;
const TTL = 60_000;

/** The script that renews places, in every slot. */
export function placesContract(contract: Contract): void {
  it('places of many subjects are renewed at once, where they are still held', async () => {
    const { backend, second } = contract.pods;
    const owners = Array.from({ length: 30 }, newOwner);
    const held = owners.map((subject) => ({ subject, place: 'mine' }));
    for (const owner of owners) {
      await backend.limits.hold('streams', { subject: owner, place: 'mine' }, 2, TTL / 2);
      await backend.limits.hold('streams', { subject: owner, place: 'other' }, 2, TTL);
    }
    const [first = newOwner()] = owners;
    await second.limits.release('streams', first, 'mine');
    const strangers = [{ subject: newOwner(), place: 'mine' }];
    expect(await backend.limits.renew('streams', [...held, ...strangers], 2 * TTL)).toEqual([
      false,
      ...owners.slice(1).map(() => true),
      false,
    ]);
    // Renewed, it is the one whose lease ends last.
    expect(await second.limits.places('streams', owners[1] ?? first)).toEqual(['other', 'mine']);
    expect(await second.limits.places('streams', first)).toEqual(['other']);
  });
}

/** Claims, and limits over all pods. */
export function budgetContract(contract: Contract): void {
  describe('a claim', () => {
    const family = 'idempotency';

    it('goes to the first claimant, on any pod', async () => {
      const { backend, second } = contract.pods;
      const name = { family, tenant: newOwner().tenant, name: 'key' } as const;
      const held = await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          (at % 2 === 0 ? backend : second).claims.claim(name, `value ${at}`, 60_000),
        ),
      );
      expect(new Set(held).size).toBe(1);
      expect(held[Number(held[0]?.slice('value '.length))]).toBe(held[0]);
      expect(await second.claims.claim(name, 'late', 60_000)).toBe(held[0]);
    });

    it('is separate for each family, tenant and name', async () => {
      const { claims } = contract.pods.backend;
      const { tenant } = newOwner();
      const names = [
        { family, tenant, name: 'key' },
        { family: 'stream', tenant, name: 'key' },
        { family, tenant: newOwner().tenant, name: 'key' },
        { family, tenant, name: 'Key' },
        { family, tenant, name: 'key/é 🦜\n{x}' },
        { family, tenant: `${tenant}/key`, name: '' },
        { family, tenant, name: '/key' },
      ] as const;
      for (const [at, name] of names.entries())
        expect(await claims.claim(name, `${at}`, 60_000)).toBe(`${at}`);
    });

    it('can be read, and is dropped by its value only', async () => {
      const { backend, second } = contract.pods;
      const name = { family, tenant: newOwner().tenant, name: 'key' } as const;
      expect(await second.claims.read(name)).toBeUndefined();
      await second.claims.drop(name, 'one');
      await backend.claims.claim(name, 'one', 60_000);
      await second.claims.drop(name, 'other');
      expect(await second.claims.read(name)).toBe('one');
      await second.claims.drop(name, 'one');
      expect(await backend.claims.claim(name, 'other', 60_000)).toBe('other');
    });

    it('lasts longer when its holder claims it again, and never shorter', async () => {
      const { backend, second } = contract.pods;
      const name = { family, tenant: newOwner().tenant, name: 'key' } as const;
      const brief = { ...name, name: 'brief' };
      expect(await backend.claims.claim(brief, 'brief', 3_000)).toBe('brief');
      expect(await backend.claims.claim(name, 'one', 3_000)).toBe('one');
      expect(await second.claims.claim(name, 'one', 60_000)).toBe('one');
      expect(await backend.claims.claim(name, 'one', 1)).toBe('one');
      await waitUntil(async () => (await second.claims.claim(brief, 'other', 60_000)) === 'other', {
        what: 'a claim of the same age to lapse',
      });
      expect(await second.claims.claim(name, 'other', 60_000)).toBe('one');
    });

    it('lapses after its time, and is not prolonged by a refused claim', async () => {
      const { backend, second } = contract.pods;
      const name = { family, tenant: newOwner().tenant, name: 'key' } as const;
      expect(await backend.claims.claim(name, 'one', 3_000)).toBe('one');
      expect(await second.claims.claim(name, 'two', 60_000)).toBe('one');
      await waitUntil(async () => (await second.claims.claim(name, 'three', 60_000)) === 'three', {
        what: 'the claim to lapse',
      });
    });
  });

  describe('a budget', () => {
    it('can be spent completely over two pods, and never exceeded', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const rate = { points: 50, windowSeconds: A_DAY };
      const verdicts = await Promise.all(
        Array.from({ length: 120 }, (_, at) =>
          (at % 2 === 0 ? backend : second).limits.take('writes', owner, rate),
        ),
      );
      expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(50);
      for (const verdict of verdicts) {
        if (verdict.allowed) continue;
        expect(verdict.retryAfterSeconds).toBeGreaterThan(A_DAY - 600);
        expect(verdict.retryAfterSeconds).toBeLessThanOrEqual(A_DAY);
      }
    });

    it.each([2, 1_000])('of %i points is asked for what is left without being spent', async (points) => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const rate = { points, windowSeconds: A_DAY };
      const askBoth = async (times: number) => {
        const asked = Array.from({ length: times }, () => [backend, second]).flat();
        return Promise.all(asked.map(({ limits }) => limits.take('turns', owner, rate, 0)));
      };
      for (const { allowed } of await askBoth(20)) expect(allowed).toBe(true);
      expect(await backend.limits.take('turns', owner, rate, points)).toEqual({ allowed: true });
      const late = { allowed: false, retryAfterSeconds: expect.any(Number) };
      for (const verdict of await askBoth(2)) {
        expect(verdict).toEqual(late);
        if (!verdict.allowed) expect(verdict.retryAfterSeconds).toBeGreaterThan(A_DAY - 600);
      }
      expect(await second.limits.take('turns', owner, rate)).toEqual(late);
    });

    it('that is large is never overspent, and hardly underspent', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const rate = { points: 500, windowSeconds: A_DAY };
      const spend = async (times: number) => {
        const verdicts = await Promise.all(
          Array.from({ length: times }, (_, at) =>
            (at % 2 === 0 ? backend : second).limits.take('calls', owner, rate),
          ),
        );
        return verdicts.filter(({ allowed }) => allowed).length;
      };
      let spent = 0;
      for (let round = 0; round < 12; round += 1) spent += await spend(50);
      expect(spent).toBeLessThanOrEqual(500);
      expect(spent).toBeGreaterThanOrEqual(490);
    });

    it('that is large serves many concurrent calls on every pod', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const rate = { points: 50_000, windowSeconds: A_DAY };
      const burst = (limits: typeof backend.limits) =>
        Promise.all(Array.from({ length: 300 }, () => limits.take('calls', owner, rate)));
      const verdicts = [...(await burst(backend.limits)), ...(await burst(second.limits))];
      expect(verdicts.filter(({ allowed }) => !allowed)).toEqual([]);
    });

    it('is separate for each owner and each limit', async () => {
      const { limits } = contract.pods.backend;
      const owner = newOwner();
      const rate = { points: 1, windowSeconds: A_DAY };
      const take = async (limit: string, subject = owner) =>
        (await limits.take(limit, subject, rate)).allowed;
      expect([await take('writes'), await take('writes')]).toEqual([true, false]);
      expect(await take('answers')).toBe(true);
      expect(await take('writes', { ...owner, userId: 'other' })).toBe(true);
      expect(await take('writes', newOwner())).toBe(true);
    });

    it('is known as used up where a call was refused', async () => {
      const { limits } = contract.pods.backend;
      const owner = newOwner();
      const rate = { points: 1, windowSeconds: A_DAY };
      const known = [];
      for (let call = 0; call < 2; call += 1) {
        await limits.take('writes', owner, rate);
        known.push(limits.isUsedUp('writes', owner));
      }
      expect(known).toEqual([false, true]);
      expect(limits.isUsedUp('answers', owner)).toBe(false);
      await limits.reset('writes', owner);
      expect(limits.isUsedUp('writes', owner)).toBe(false);
      expect((await limits.take('writes', owner, rate)).allowed).toBe(true);
    });

    it('is full again in the next window', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const rate = { points: 2, windowSeconds: 1 };
      const take = async () => (await second.limits.take('writes', owner, rate)).allowed;
      await backend.limits.take('writes', owner, rate);
      await backend.limits.take('writes', owner, rate);
      await waitUntil(take, { what: 'the next window', everyMs: 50 });
    });
  });

  describe('a number of places', () => {
    it('is never exceeded, over two pods', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const held = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          (at % 2 === 0 ? backend : second).limits.hold(
            'streams',
            { subject: owner, place: `${at}` },
            5,
            TTL,
          ),
        ),
      );
      expect(held.filter(Boolean)).toHaveLength(5);
      const mine = held.indexOf(true);
      expect(await second.limits.hold('streams', { subject: owner, place: `${mine}` }, 5, TTL)).toBe(true);
      expect(await second.limits.hold('streams', { subject: owner, place: 'another' }, 5, TTL)).toBe(false);
      expect(
        await second.limits.hold(
          'streams',
          { subject: { ...owner, userId: 'other' }, place: 'another' },
          5,
          TTL,
        ),
      ).toBe(true);
      await backend.limits.release('streams', owner, `${mine}`);
      await backend.limits.release('streams', owner, 'nobody');
      expect(await second.limits.hold('streams', { subject: owner, place: 'another' }, 5, TTL)).toBe(true);
      expect(await second.limits.hold('streams', { subject: owner, place: `${mine}` }, 5, TTL)).toBe(false);
    });

    it('is listed, the place whose lease ends first at the front, on any pod', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      for (const [place, ttlMs] of [
        ['long', TTL],
        ['short', TTL / 2],
        ['longest', 2 * TTL],
      ] as const)
        await backend.limits.hold('streams', { subject: owner, place }, 3, ttlMs);
      expect(await second.limits.places('streams', owner)).toEqual(['short', 'long', 'longest']);
      await backend.limits.release('streams', owner, 'long');
      expect(await second.limits.places('streams', owner)).toEqual(['short', 'longest']);
      expect(await second.limits.places('streams', newOwner())).toEqual([]);
    });

    it('is free again when a lease ends, and only that place', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      expect(await backend.limits.hold('streams', { subject: owner, place: 'long' }, 2, TTL)).toBe(true);
      expect(await backend.limits.hold('streams', { subject: owner, place: 'short' }, 2, 3_000)).toBe(true);
      expect(await second.limits.hold('streams', { subject: owner, place: 'next' }, 2, TTL)).toBe(false);
      await waitUntil(() => second.limits.hold('streams', { subject: owner, place: 'next' }, 2, TTL), {
        what: 'the lease to end',
      });
      expect(await second.limits.hold('streams', { subject: owner, place: 'one more' }, 2, TTL)).toBe(false);
    });

    it('is kept while its lease is renewed', async () => {
      const { backend, second } = contract.pods;
      const [owner, other] = [newOwner(), newOwner()];
      for (const one of [owner, other])
        await backend.limits.hold('streams', { subject: one, place: 'mine' }, 1, 3_000);
      expect(await backend.limits.hold('streams', { subject: owner, place: 'mine' }, 1, TTL)).toBe(true);
      await waitUntil(() => second.limits.hold('streams', { subject: other, place: 'yours' }, 1, TTL), {
        what: 'a lease of the same age that was not renewed to end',
      });
      expect(await second.limits.hold('streams', { subject: owner, place: 'yours' }, 1, TTL)).toBe(false);
    });
  });
}
