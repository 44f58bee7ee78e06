import { randomBytes } from 'node:crypto';
import { mintElicitationId } from '@parley/core/domain/ids';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type { DeadLetter, DeadLetters } from '@parley/shared/ports/delivery/dead-letters';
import { afterEach, describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { newOwner } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const A_DAY = 86_400_000;

type Letter = Omit<DeadLetter, 'diedAt'>;

function letterOf(tenant: string, more: Partial<Letter> = {}): Letter {
  const elicitationId = mintElicitationId({ tenant, userId: randomBytes(4).toString('hex') });
  return {
    deliveryId: webhookIdOf(elicitationId),
    elicitationId,
    attempts: 10,
    lastError: 'status',
    lastStatus: 503,
    ...more,
  };
}

/** Walks a tenant's list to its end. */
async function walk(
  letters: DeadLetters,
  tenant: string,
  limit = 100,
  order?: 'oldest',
): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await letters.page({
      tenant,
      limit,
      ...(order && { order }),
      ...(cursor !== undefined && { cursor }),
    });
    expect(page.deadLetters.length).toBeLessThanOrEqual(limit);
    found.push(...page.deadLetters);
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
  throw new Error('The list has no end.');
}

const idsOf = (letters: readonly Letter[]) => letters.map(({ deliveryId }) => deliveryId);

/** Webhooks that could not be delivered. */
export function deadLetterContract(contract: Contract): void {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((close) => close()));
  });
  async function lists(keepMs = A_DAY) {
    const { first, second, close } = await contract.pods.deadLetters(keepMs);
    open.push(close);
    return { first, second, tenant: newOwner().tenant };
  }

  describe('a dead letter', () => {
    it('can be read unchanged on every pod', async () => {
      const { first, second, tenant } = await lists();
      const letter = letterOf(tenant);
      const { lastStatus: _none, ...silent } = letterOf(tenant, { lastError: 'timeout' });
      await first.add(tenant, letter);
      await first.add(tenant, silent);
      const kept = await second.read(tenant, letter.deliveryId);
      expect(kept).toEqual({ ...letter, diedAt: kept?.diedAt });
      expect(Number.isSafeInteger(kept?.diedAt)).toBe(true);
      const other = await second.read(tenant, silent.deliveryId);
      expect(other).toEqual({ ...silent, diedAt: other?.diedAt });
    });

    it('exists once for each delivery: the latest one written', async () => {
      const { first, second, tenant } = await lists();
      const letter = letterOf(tenant);
      await first.add(tenant, letter);
      await second.add(tenant, { ...letter, attempts: 11, lastError: 'gone', lastStatus: 410 });
      expect(await second.count(tenant)).toBe(1);
      const all = await walk(first, tenant);
      expect(all).toMatchObject([{ ...letter, attempts: 11, lastError: 'gone', lastStatus: 410 }]);
    });

    it('is visible to its own tenant only', async () => {
      const { first, tenant } = await lists();
      const letter = letterOf(tenant);
      await first.add(tenant, letter);
      for (const other of [newOwner().tenant, `${tenant}/`, `${tenant}:x`, tenant.toUpperCase()]) {
        expect(await first.read(other, letter.deliveryId)).toBeUndefined();
        expect(await first.count(other)).toBe(0);
        expect(await first.page({ tenant: other, limit: 10 })).toEqual({ deadLetters: [] });
        expect(await first.remove(other, letter.deliveryId)).toBe(false);
      }
      expect(await walk(first, tenant)).toHaveLength(1);
    });

    it('is removed once', async () => {
      const { first, second, tenant } = await lists();
      const [letter, staying] = [letterOf(tenant), letterOf(tenant)];
      await first.add(tenant, letter);
      await first.add(tenant, staying);
      const removed = await Promise.all([
        first.remove(tenant, letter.deliveryId),
        second.remove(tenant, letter.deliveryId),
      ]);
      expect(removed.sort()).toEqual([false, true]);
      expect(await second.read(tenant, letter.deliveryId)).toBeUndefined();
      expect(idsOf(await walk(second, tenant))).toEqual([staying.deliveryId]);
    });

    it('is not removed when a newer one has replaced it', async () => {
      const { first, second, tenant } = await lists();
      const letter = letterOf(tenant);
      await first.add(tenant, letter);
      const old = (await first.read(tenant, letter.deliveryId))?.diedAt ?? 0;
      // The two are distinguished even within the same millisecond.
      await second.add(tenant, { ...letter, attempts: 1 });
      expect(await first.remove(tenant, letter.deliveryId, old)).toBe(false);
      const now = await first.read(tenant, letter.deliveryId);
      expect(now?.attempts).toBe(1);
      expect(await first.remove(tenant, letter.deliveryId, now?.diedAt)).toBe(true);
      expect(await walk(first, tenant)).toEqual([]);
    });

    it('is deleted after its retention, and the others stay', async () => {
      const { first, second, tenant } = await lists(3_000);
      const early = letterOf(tenant);
      await first.add(tenant, early);
      const late: Letter[] = [];
      await waitUntil(
        async () => {
          const letter = letterOf(tenant);
          late.push(letter);
          await first.add(tenant, letter);
          return (await second.read(tenant, early.deliveryId)) === undefined;
        },
        { what: 'the letter to leave', everyMs: 50 },
      );
      const staying = idsOf(await walk(second, tenant));
      expect(staying).not.toContain(early.deliveryId);
      expect(staying).toContain(late.at(-1)?.deliveryId);
      await waitUntil(async () => (await walk(second, tenant)).length === 0, { what: 'all to leave' });
    });
  });

  describe('a list of dead letters', () => {
    it('shows none past its retention, even when none was added since, nor behind an old cursor', async () => {
      const { first, second, tenant } = await lists(3_000);
      const [before, early, late] = [letterOf(tenant), letterOf(tenant), letterOf(tenant)];
      const died = async ({ deliveryId }: Letter) => (await second.read(tenant, deliveryId))?.diedAt ?? 0;
      await first.add(tenant, before);
      await first.add(tenant, early);
      const oldest = { tenant, order: 'oldest' } as const;
      const { nextCursor: cursor = '' } = await first.page({ ...oldest, limit: 1 });
      const earlyAt = await died(early);
      await waitUntil(
        async () => {
          await first.add(tenant, late);
          return (await died(late)) >= earlyAt + 500;
        },
        { what: 'some time to pass', everyMs: 50 },
      );
      await waitUntil(async () => (await died(early)) === 0, { what: 'the time of the first' });
      expect(idsOf(await walk(second, tenant))).not.toContain(early.deliveryId);
      const further = await second.page({ ...oldest, limit: 10, cursor });
      expect(idsOf(further.deadLetters)).not.toContain(early.deliveryId);
    });

    it.each([1, 100])('is read to its end in pages of %i, in either order, each once', async (limit) => {
      const { first, second, tenant } = await lists();
      const letters = Array.from({ length: limit === 1 ? 12 : 260 }, () => letterOf(tenant));
      await Promise.all(letters.map((letter, at) => (at % 2 === 0 ? first : second).add(tenant, letter)));
      const all = await walk(first, tenant, limit);
      expect(idsOf(all).sort()).toEqual(idsOf(letters).sort());
      const sorted = [...all].sort(
        (one, other) => other.diedAt - one.diedAt || (one.deliveryId < other.deliveryId ? 1 : -1),
      );
      expect(idsOf(all)).toEqual(idsOf(sorted));
      expect(idsOf(await walk(second, tenant, limit, 'oldest'))).toEqual(idsOf(sorted.toReversed()));
    });

    it('keeps its position although letters are added and removed', async () => {
      const { first, second, tenant } = await lists();
      const letters = Array.from({ length: 20 }, () => letterOf(tenant));
      for (const letter of letters) await first.add(tenant, letter);
      const whole = idsOf(await walk(first, tenant));
      const page = await first.page({ tenant, limit: 8 });
      const cursor = page.nextCursor ?? '';
      // The letter that the cursor names goes, and another comes before it.
      await second.remove(tenant, whole[7] ?? '');
      await second.add(tenant, letterOf(tenant));
      const rest = await second.page({ tenant, limit: 50, cursor });
      // One that came within the same millisecond may show or not, by its place.
      expect(idsOf(rest.deadLetters).filter((id) => whole.includes(id))).toEqual(whole.slice(8));
      expect(rest.nextCursor).toBeUndefined();
    });
  });
}
