/**
 * The outbox in Redis. Commits note tasks in their own scripts; this file leases them, takes the reports and searches for due
 * ones. Handling is in `delivery/dispatch.ts`.
 */

import { bucketOf, formatOwnerPath } from '@parley/core/domain/ids';
import type {
  DeliveryFailure,
  Outbox,
  OutboxEntry,
  OutboxStanding,
  OutboxTask,
} from '../../ports/delivery/outbox.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups, settled } from '../client/in-groups.ts';
import { BUCKETS, outboxChannel, outboxKey, outboxTriesKey, tenantListKey } from '../client/keys.ts';
import { createOccupied } from '../client/occupied.ts';
import { loadNamedScript, loadScript } from '../client/script.ts';
import type { Subscriber } from '../client/subscriber.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { watchedKeyIn } from '../tenants/keys.ts';
import { failureOf, failureText, leaseFields, memberOf, parseMember } from './member.ts';

// The number of members that one step of a scan reads.
const SCANNED = 1_000;

/** The outbox: one sorted set for each bucket and kind, to which step.lua adds the tasks of its commit. */
export function createRedisOutbox(
  redis: Commands,
  subscriber: Pick<Subscriber, 'subscribe'>,
  onError?: (error: unknown) => void,
): Outbox {
  const takeScript = loadScript(redis, 'outbox/take', onError);
  const takeOneScript = loadScript(redis, 'outbox/take-one', onError);
  const nextScript = loadScript(redis, 'outbox/next', onError);
  const putScript = loadNamedScript(redis, 'outbox/put', onError);
  const findScript = loadScript(redis, 'outbox/find', onError);
  const unlistScript = loadScript(redis, 'outbox/unlist', onError);

  const findOccupied = createOccupied(redis, onError);
  const occupied = (kinds: readonly string[]) =>
    findOccupied((bucket) => kinds.map((kind) => outboxKey(bucket, kind)));

  const keysOf = ({ bucket, kind }: OutboxTask) => [outboxKey(bucket, kind), outboxTriesKey(bucket)];

  function put(
    { task, lease, tenant }: Pick<OutboxEntry, 'task' | 'lease' | 'tenant'>,
    change: 'add' | 'done' | 'again' | 'back' | 'rest',
    { inMs = 0, failure }: { readonly inMs?: number; readonly failure?: DeliveryFailure | undefined } = {},
  ) {
    const { bucket, kind } = task;
    const failed = failure === undefined ? '' : failureText(failure);
    return putScript({
      keys: { outbox: outboxKey(bucket, kind), tries: outboxTriesKey(bucket) },
      moreKeys:
        tenant === undefined
          ? []
          : [tenantListKey('deliveries', tenant, bucket), watchedKeyIn(bucket, tenant)],
      args: { task: memberOf(task), change, lease, dueInMs: inMs, failed },
    });
  }

  async function remove(
    { bucket, kind }: Pick<OutboxTask, 'bucket' | 'kind'>,
    members: readonly string[],
    tenant: string | undefined,
  ): Promise<void> {
    if (members.length === 0) return;
    await orUnavailable(
      () =>
        Promise.all([
          redis.zrem(outboxKey(bucket, kind), ...members),
          redis.hdel(outboxTriesKey(bucket), ...leaseFields(members)),
          tenant !== undefined && redis.zrem(tenantListKey('deliveries', tenant, bucket), ...members),
        ]),
      onError,
    );
  }

  async function findMany(tasks: readonly OutboxTask[]) {
    let now = 0;
    const found = await inGroups(
      redis,
      tasks,
      ({ bucket }) => bucket,
      async (group) => {
        const reply = (await findScript(group.flatMap(keysOf), group.map(memberOf))) as string[];
        now = Math.max(now, Number(reply[0]));
        return group.map((_, at) => settled(() => standingOf(reply.slice(4 * at + 1), Number(reply[0]))));
      },
    );
    const standings = found.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
    return { now, standings };
  }

  return {
    async add(task, tenant) {
      await put({ task, lease: 0, ...(tenant !== undefined && { tenant }) }, 'add');
    },
    async take(bucket, room, leaseMs) {
      const kinds = Object.keys(room);
      if (kinds.length === 0) return [];
      const keys = [outboxTriesKey(bucket), ...kinds.map((kind) => outboxKey(bucket, kind))];
      const reply = (await takeScript(keys, [leaseMs, ...Object.values(room)])) as unknown[];
      const entries: OutboxEntry[] = [];
      for (let at = 0; at + 3 < reply.length; at += 4) {
        const task = parseMember(String(reply[at]), bucket);
        // The member has an unknown format. It becomes due again when its lease lapses, for a process that can read it.
        if (task === undefined) continue;
        entries.push(entryOf(task, reply.slice(at + 1)));
      }
      return entries;
    },
    occupied,
    async takeOne(task, leaseMs) {
      const reply = (await takeOneScript(keysOf(task), [memberOf(task), leaseMs])) as unknown[] | null;
      return reply === null ? undefined : entryOf(task, reply);
    },
    find: async (task) => (await findMany([task])).standings[0],
    findMany,
    remove: (task, tenant) => remove(task, [memberOf(task)], tenant),
    async unlist(task, tenant) {
      const { bucket, kind } = task;
      await unlistScript(
        [tenantListKey('deliveries', tenant, bucket), outboxTriesKey(bucket), outboxKey(bucket, kind)],
        [memberOf(task)],
      );
    },
    async removeOf(owner, kind) {
      const bucket = bucketOf(owner);
      const pattern = `${escaped(`${kind} ${formatOwnerPath(owner)}`)}/*`;
      let cursor = '0';
      do {
        const scan = () => redis.zscan(outboxKey(bucket, kind), cursor, 'MATCH', pattern, 'COUNT', SCANNED);
        const [next, found] = await orUnavailable(scan, onError);
        // ZSCAN returns members and scores by turns.
        const members = found.filter((_, index) => index % 2 === 0);
        await remove({ bucket, kind }, members, owner.tenant);
        cursor = next;
      } while (cursor !== '0');
    },
    done: async (entry) => (await put(entry, 'done')) === 1,
    async again(entry, inMs, failure) {
      await put(entry, 'again', { inMs, failure });
    },
    async giveBack(entry, inMs, failure) {
      await put(entry, 'back', { inMs, failure });
    },
    async rest(entry, inMs) {
      await put(entry, 'rest', { inMs });
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

/** Builds an entry from the result of lend() in outbox/tasks.lua. */
function entryOf(task: OutboxTask, [lease, tried, tenant]: readonly unknown[]): OutboxEntry {
  return {
    task,
    lease: Number(lease),
    attempt: Number(tried) + 1,
    ...(tenant !== '' && { tenant: decodeURIComponent(String(tenant)) }),
  };
}

function standingOf(
  [due = '', tried, lent, failed = '']: readonly string[],
  now: number,
): OutboxStanding | undefined {
  if (due === '') return undefined;
  const dueInMs = Math.max(0, Number(due) - now);
  const failure = failureOf(failed);
  return {
    dueInMs,
    attempts: Number(tried),
    isLeased: dueInMs > 0 && lent === due,
    ...(failure !== undefined && { failure }),
  };
}

/** Escapes a text for use in a Redis pattern. */
function escaped(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&');
}
