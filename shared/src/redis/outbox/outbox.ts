import { BUCKET_COUNT } from '../../domain/ids.ts';
import type { Outbox, OutboxEntry, OutboxTask } from '../../ports/delivery/outbox.ts';
import type { Commands } from '../client/connect.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { bucketOfTask, nameOfTask, outboxKey, outboxTriesKey, taskOfName } from './outbox-names.ts';

const ALL_OUTBOXES = Array.from({ length: BUCKET_COUNT }, (_, bucket) => [
  outboxKey(bucket, 'wake'),
  outboxKey(bucket, 'webhook'),
]).flat();

/** The outbox in Redis: sorted sets in each bucket, into which commit.lua notes what an ended elicitation leaves to do. */
export function createRedisOutbox(redis: Commands, onError?: (error: unknown) => void): Outbox {
  const takeScript = loadScript(redis, 'outbox/take', onError);
  const putScript = loadScript(redis, 'outbox/put', onError);

  function put(task: OutboxTask, what: 'add' | 'done' | 'again' | 'back', lease: number, inMs = 0) {
    const bucket = bucketOfTask(task);
    return putScript(
      [outboxKey(bucket, task.kind), outboxTriesKey(bucket)],
      [nameOfTask(task), what, lease, inMs],
    );
  }

  return {
    async add(task) {
      await put(task, 'add', 0);
    },
    async take(bucket, room, leaseMs) {
      const keys = [outboxTriesKey(bucket), outboxKey(bucket, 'wake'), outboxKey(bucket, 'webhook')];
      const reply = (await takeScript(keys, [leaseMs, room.wake, room.webhook])) as unknown[];
      const entries: OutboxEntry[] = [];
      for (let at = 0; at + 2 < reply.length; at += 3) {
        const task = taskOfName(String(reply[at]));
        // A newer pod may have noted what only its like can do: it comes again when its lease is over.
        if (task === undefined) continue;
        entries.push({ task, lease: Number(reply[at + 1]), attempt: Number(reply[at + 2]) + 1 });
      }
      return entries;
    },
    async done({ task, lease }) {
      await put(task, 'done', lease);
    },
    async again({ task, lease }, inMs) {
      await put(task, 'again', lease, inMs);
    },
    async giveBack({ task, lease }, inMs) {
      await put(task, 'back', lease, inMs);
    },
    async lagMs() {
      const firstDue = async (key: string) => Number((await redis.zrange(key, '0', '0', 'WITHSCORES'))[1]);
      const [[seconds], ...due] = await orUnavailable(
        () => Promise.all([redis.time(), ...ALL_OUTBOXES.map(firstDue)]),
        onError,
      );
      const now = Number(seconds) * 1000;
      return due.reduce((lag, at) => (at < now ? Math.max(lag, now - at) : lag), 0);
    },
  };
}
