/**
 * Dead letters in Redis, paged by time so that letters with equal times are neither repeated nor skipped. When a webhook
 * becomes a dead letter is decided in `delivery/deliver-webhook.ts`.
 */

import type {
  DeadLetter,
  DeadLetterPage,
  DeadLetterPageRequest,
  DeadLetters,
} from '../../ports/delivery/dead-letters.ts';
import type { ListOrder } from '../../ports/tenant-lists.ts';
import type { Commands } from '../client/connect.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { deadLetterDetailsKey, deadLettersKey } from './dead-letter-keys.ts';

interface RedisDeadLettersDeps {
  readonly redis: Commands;
  /** How long letters are kept, in ms. */
  readonly keepMs: number;
  readonly onError?: (error: unknown) => void;
}

const CHUNK = 100;
// A call removes few expired letters, so that it stays fast. The others are not listed, and later calls remove them.
const FORGET_MAX = 100;

/** The place of a letter in its list: by time, and then by id. */
interface LetterPlace {
  readonly diedAt: number;
  readonly deliveryId: string;
}

/** The dead letters of a tenant: a sorted set by time, and a hash with their details. */
export function createRedisDeadLetters({ redis, keepMs, onError }: RedisDeadLettersDeps): DeadLetters {
  const addScript = loadScript(redis, 'outbox/dead-letter-add', onError);
  const readScript = loadScript(redis, 'outbox/dead-letter-read', onError);
  const sliceScript = loadScript(redis, 'outbox/dead-letter-slice', onError);
  const removeScript = loadScript(redis, 'outbox/dead-letter-remove', onError);
  const keysOf = (tenant: string) => [deadLettersKey(tenant), deadLetterDetailsKey(tenant)];

  /** The next letters after a place: at least one, if there is any. */
  async function after(
    tenant: string,
    place: LetterPlace | undefined,
    order: ListOrder,
  ): Promise<DeadLetter[]> {
    const from = place?.diedAt ?? '';
    for (let offset = 0; ; offset += CHUNK) {
      const flat = (await sliceScript(keysOf(tenant), [keepMs, order, from, offset, CHUNK])) as string[];
      const follows = (letter: DeadLetter) =>
        place === undefined || (order === 'newest' ? isBefore(letter, place) : isBefore(place, letter));
      const letters = lettersOf(flat).filter(follows);
      // All letters of a chunk may have the same time as the place and come before it; then the next chunk is read.
      if (letters.length > 0 || flat.length < 3 * CHUNK) return letters;
    }
  }

  async function page({
    tenant,
    cursor,
    limit,
    order = 'newest',
  }: DeadLetterPageRequest): Promise<DeadLetterPage> {
    const found: DeadLetter[] = [];
    let place = cursor === undefined ? undefined : parsePlace(cursor);
    while (found.length <= limit) {
      const next = await after(tenant, place, order);
      if (next.length === 0) break;
      found.push(...next);
      place = found.at(-1);
    }
    const deadLetters = found.slice(0, limit);
    const last = found.length > limit ? deadLetters.at(-1) : undefined;
    return { deadLetters, ...(last !== undefined && { nextCursor: formatPlace(last) }) };
  }

  return {
    async add(tenant, { deliveryId, ...details }) {
      await addScript(keysOf(tenant), [deliveryId, JSON.stringify(details), keepMs, FORGET_MAX]);
    },
    async read(tenant, deliveryId) {
      const reply = (await readScript(keysOf(tenant), [keepMs, deliveryId])) as string[] | null;
      return reply === null ? undefined : lettersOf([deliveryId, ...reply])[0];
    },
    count: (tenant) =>
      orUnavailable(async () => {
        const [seconds, microseconds] = await redis.time();
        const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
        return redis.zcount(deadLettersKey(tenant), `(${now - keepMs}`, '+inf');
      }, onError),
    page,
    async remove(tenant, deliveryId, diedAt) {
      return (await removeScript(keysOf(tenant), [deliveryId, diedAt ?? ''])) === 1;
    },
  };
}

/** Parses a flat reply of ids, times and details. Letters whose details were lost are skipped. */
function lettersOf(flat: readonly string[]): DeadLetter[] {
  const letters: DeadLetter[] = [];
  for (let at = 0; at + 2 < flat.length; at += 3) {
    const [deliveryId = '', diedAt = '', details = ''] = flat.slice(at, at + 3);
    if (details === '') continue;
    const known = JSON.parse(details) as Omit<DeadLetter, keyof LetterPlace>;
    letters.push({ deliveryId, ...known, diedAt: Number(diedAt) });
  }
  return letters;
}

function isBefore(one: LetterPlace, other: LetterPlace): boolean {
  if (one.diedAt !== other.diedAt) return one.diedAt < other.diedAt;
  return one.deliveryId < other.deliveryId;
}

function formatPlace({ diedAt, deliveryId }: LetterPlace): string {
  return `${diedAt}.${deliveryId}`;
}

function parsePlace(cursor: string): LetterPlace {
  const dot = cursor.indexOf('.');
  return { diedAt: Number(cursor.slice(0, dot)), deliveryId: cursor.slice(dot + 1) };
}
