import { bucketOf, formatOwnerPath } from '@parley/core/domain/ids';
import type { Outbox, OutboxEntry, OutboxTask } from '../../ports/delivery/outbox.ts';
import type { Commands } from '../client/connect.ts';
import { BUCKETS, outboxChannel, outboxKey, outboxTriesKey } from '../client/keys.ts';
import { createOccupied } from '../client/occupied.ts';
import { loadScript } from '../client/script.ts';
import type { Subscriber } from '../client/subscriber.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { leaseFields, memberOf, parseMember } from './member.ts';

// Members that one step of a search looks at.
const SCANNED = 1_000;

/** The outbox in Redis: for each bucket and kind one sorted set, into which step.lua notes the tasks of its commit. */
export function createRedisOutbox(
  redis: Commands,
  subscriber: Pick<Subscriber, 'subscribe'>,
  onError?: (error: unknown) => void,
): Outbox {
  const takeScript = loadScript(redis, 'outbox/take', onError);
  const takeOneScript = loadScript(redis, 'outbox/take-one', onError);
  const nextScript = loadScript(redis, 'outbox/next', onError);
  const putScript = loadScript(redis, 'outbox/put', onError);

  const findOccupied = createOccupied(redis, onError);
  const occupied = (kinds: readonly string[]) =>
    findOccupied((bucket) => kinds.map((kind) => outboxKey(bucket, kind)));

  const keysOf = ({ bucket, kind }: OutboxTask) => [outboxKey(bucket, kind), outboxTriesKey(bucket)];

  function put(task: OutboxTask, change: 'add' | 'done' | 'again' | 'back', lease: number, inMs = 0) {
    return putScript(keysOf(task), [memberOf(task), change, lease, inMs]);
  }

  async function remove(bucket: number, kind: string, members: readonly string[]): Promise<void> {
    if (members.length === 0) return;
    await orUnavailable(
      () =>
        Promise.all([
          redis.zrem(outboxKey(bucket, kind), ...members),
          redis.hdel(outboxTriesKey(bucket), ...leaseFields(members)),
        ]),
      onError,
    );
  }

  return {
    async add(task) {
      await put(task, 'add', 0);
    },
    async take(bucket, room, leaseMs) {
      const kinds = Object.keys(room);
      if (kinds.length === 0) return [];
      const keys = [outboxTriesKey(bucket), ...kinds.map((kind) => outboxKey(bucket, kind))];
      const reply = (await takeScript(keys, [leaseMs, ...Object.values(room)])) as unknown[];
      const entries: OutboxEntry[] = [];
      for (let at = 0; at + 2 < reply.length; at += 3) {
        const task = parseMember(String(reply[at]), bucket);
        // Not a task of this format: it becomes due again when its lease lapses, for a process that can read it.
        if (task === undefined) continue;
        entries.push({ task, lease: Number(reply[at + 1]), attempt: Number(reply[at + 2]) + 1 });
      }
      return entries;
    },
    occupied,
    async takeOne(task, leaseMs) {
      const reply = (await takeOneScript(keysOf(task), [memberOf(task), leaseMs])) as unknown[] | null;
      return reply === null ? undefined : { task, lease: Number(reply[0]), attempt: Number(reply[1]) + 1 };
    },
    async find(task) {
      const [outbox = '', tries = ''] = keysOf(task);
      const member = memberOf(task);
      const [due, [tried, lent], [seconds, microseconds]] = await orUnavailable(
        () =>
          Promise.all([
            redis.zscore(outbox, member),
            redis.hmget(tries, `${member} tried`, `${member} lent`),
            redis.time(),
          ]),
        onError,
      );
      if (due === null) return undefined;
      const dueInMs = Math.max(0, Number(due) - (Number(seconds) * 1000 + Number(microseconds) / 1000));
      return { dueInMs, attempts: Number(tried ?? 0), isLeased: dueInMs > 0 && lent === due };
    },
    remove: (task) => remove(task.bucket, task.kind, [memberOf(task)]),
    async removeOf(owner, kind) {
      const bucket = bucketOf(owner);
      const pattern = `${escaped(`${kind} ${formatOwnerPath(owner)}`)}/*`;
      let cursor = '0';
      do {
        const scan = () => redis.zscan(outboxKey(bucket, kind), cursor, 'MATCH', pattern, 'COUNT', SCANNED);
        const [next, found] = await orUnavailable(scan, onError);
        // Members and their scores alternate.
        await remove(
          bucket,
          kind,
          found.filter((_, index) => index % 2 === 0),
        );
        cursor = next;
      } while (cursor !== '0');
    },
    done: async ({ task, lease }) => (await put(task, 'done', lease)) === 1,
    async again({ task, lease }, inMs) {
      await put(task, 'again', lease, inMs);
    },
    async giveBack({ task, lease }, inMs) {
      await put(task, 'back', lease, inMs);
    },
    async nextInMs(bucket, kinds) {
      if (kinds.length === 0) return undefined;
      const next = await nextScript(
        kinds.map((kind) => outboxKey(bucket, kind)),
        [],
      );
      return next === null ? undefined : Number(next);
    },
    watch(listener) {
      const ends = BUCKETS.map((bucket) =>
        subscriber.subscribe(outboxChannel(bucket), (signal) =>
          listener(
            signal.type === 'resync'
              ? { type: 'resync', bucket }
              : { type: 'due', bucket, inMs: Number(signal.message) },
          ),
        ),
      );
      return () => {
        for (const end of ends) end();
      };
    },
    async lagMs(kinds) {
      const firstDue = async (key: string) => Number((await redis.zrange(key, '0', '0', 'WITHSCORES'))[1]);
      const buckets = (await Promise.all(occupied(kinds))).flat();
      const keys = buckets.flatMap((bucket) => kinds.map((kind) => outboxKey(bucket, kind)));
      const [[seconds], ...due] = await orUnavailable(
        () => Promise.all([redis.time(), ...keys.map(firstDue)]),
        onError,
      );
      const now = Number(seconds) * 1000;
      return due.reduce((lag, at) => (at < now ? Math.max(lag, now - at) : lag), 0);
    },
  };
}

/** A text that a pattern of Redis takes literally. */
function escaped(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&');
}
