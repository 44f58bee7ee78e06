import { BUCKET_COUNT } from '../../domain/ids.ts';
import type { Outbox, OutboxEntry, OutboxTask } from '../../ports/delivery/outbox.ts';
import type { Commands } from '../client/connect.ts';
import { outboxKey, outboxTriesKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { handOutFields, memberOf, parseMember } from './member.ts';

const BUCKETS = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);

/** The outbox in Redis: for each bucket and kind one sorted set, into which step.lua notes the tasks of its commit. */
export function createRedisOutbox(redis: Commands, onError?: (error: unknown) => void): Outbox {
  const takeScript = loadScript(redis, 'outbox/take', onError);
  const takeOneScript = loadScript(redis, 'outbox/take-one', onError);
  const putScript = loadScript(redis, 'outbox/put', onError);

  const keysOf = ({ bucket, kind }: OutboxTask) => [outboxKey(bucket, kind), outboxTriesKey(bucket)];

  function put(task: OutboxTask, change: 'add' | 'done' | 'again' | 'back', lease: number, inMs = 0) {
    return putScript(keysOf(task), [memberOf(task), change, lease, inMs]);
  }

  return {
    async add(task) {
      await put(task, 'add', 0);
    },
    async take(bucket, room, leaseMs) {
      const kinds = Object.keys(room);
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
    async takeOne(task, leaseMs) {
      const reply = (await takeOneScript(keysOf(task), [memberOf(task), leaseMs])) as unknown[] | null;
      return reply === null ? undefined : { task, lease: Number(reply[0]), attempt: Number(reply[1]) + 1 };
    },
    async remove(task) {
      const member = memberOf(task);
      await orUnavailable(
        () =>
          Promise.all([
            redis.zrem(outboxKey(task.bucket, task.kind), member),
            redis.hdel(outboxTriesKey(task.bucket), ...handOutFields([member])),
          ]),
        onError,
      );
    },
    done: async ({ task, lease }) => (await put(task, 'done', lease)) === 1,
    async again({ task, lease }, inMs) {
      await put(task, 'again', lease, inMs);
    },
    async giveBack({ task, lease }, inMs) {
      await put(task, 'back', lease, inMs);
    },
    async lagMs(kinds) {
      const firstDue = async (key: string) => Number((await redis.zrange(key, '0', '0', 'WITHSCORES'))[1]);
      const keys = BUCKETS.flatMap((bucket) => kinds.map((kind) => outboxKey(bucket, kind)));
      const [[seconds], ...due] = await orUnavailable(
        () => Promise.all([redis.time(), ...keys.map(firstDue)]),
        onError,
      );
      const now = Number(seconds) * 1000;
      return due.reduce((lag, at) => (at < now ? Math.max(lag, now - at) : lag), 0);
    },
  };
}
