import type { DeadLetter, DeadLetters } from '../../ports/delivery/dead-letters.ts';
import { createExpiringMap } from '../expiring-map.ts';

/** The dead letters of one process, kept for `keepMs`. */
export function createMemoryDeadLetters({ keepMs }: { readonly keepMs: number }): DeadLetters {
  const held = createExpiringMap<{ readonly tenant: string; readonly letter: DeadLetter }>();
  const keyOf = (tenant: string, deliveryId: string) => JSON.stringify([tenant, deliveryId]);
  const read = (tenant: string, deliveryId: string) => held.get(keyOf(tenant, deliveryId))?.letter;

  return {
    async add(tenant, details) {
      const now = Date.now();
      // The time is later than that of an earlier letter, so that the two can be told apart.
      const diedAt = Math.max(now, (read(tenant, details.deliveryId)?.diedAt ?? 0) + 1);
      const letter = { ...details, diedAt };
      held.set(keyOf(tenant, letter.deliveryId), { tenant, letter }, now + keepMs);
    },
    read: async (tenant, deliveryId) => read(tenant, deliveryId),
    count: async (tenant) => held.values().filter((one) => one.tenant === tenant).length,
    async page({ tenant, cursor, limit, order = 'newest' }) {
      const compare: typeof newestFirst =
        order === 'newest' ? newestFirst : (one, other) => newestFirst(other, one);
      const letters = held
        .values()
        .flatMap((one) => (one.tenant === tenant ? [one.letter] : []))
        .sort(compare)
        .filter(followsCursor(cursor, compare));
      const deadLetters = letters.slice(0, limit);
      const last = letters.length > limit ? deadLetters.at(-1) : undefined;
      return {
        deadLetters,
        ...(last !== undefined && { nextCursor: `${last.diedAt}.${last.deliveryId}` }),
      };
    },
    async remove(tenant, deliveryId, diedAt) {
      const letter = read(tenant, deliveryId);
      if (letter === undefined || (diedAt !== undefined && letter.diedAt !== diedAt)) return false;
      held.set(keyOf(tenant, deliveryId), { tenant, letter }, 0);
      return true;
    },
  };
}

type LetterPosition = Pick<DeadLetter, 'diedAt' | 'deliveryId'>;

function newestFirst(one: LetterPosition, other: LetterPosition): number {
  if (one.diedAt !== other.diedAt) return other.diedAt - one.diedAt;
  return one.deliveryId < other.deliveryId ? 1 : -1;
}

function followsCursor(
  cursor: string | undefined,
  compare: typeof newestFirst,
): (letter: LetterPosition) => boolean {
  if (cursor === undefined) return () => true;
  const dot = cursor.indexOf('.');
  const last = { diedAt: Number(cursor.slice(0, dot)), deliveryId: cursor.slice(dot + 1) };
  return (letter) => compare(last, letter) < 0 && letter.deliveryId !== last.deliveryId;
}
