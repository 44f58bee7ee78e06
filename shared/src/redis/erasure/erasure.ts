/**
 * Finds and removes everything that Redis stores for one person. Stopping what runs, and the order of the steps, is decided in
 * `runs/erase`.
 */

import { bucketOf, formatOwnerPath, formatStreamPath, type Owner } from '@parley/core/domain/ids';
import type { AskedKey } from '../../ports/elicitations/elicitations.ts';
import type { Erasure, StoredPart } from '../../ports/erasure.ts';
import { RESUME_RUN, resumeTask } from '../../ports/runs/resume-task.ts';
import type { Commands } from '../client/connect.ts';
import {
  conversationKey,
  conversationsKey,
  deadlinesKey,
  elicitationKey,
  feedKey,
  fenceKey,
  historyKey,
  inboxBytesKey,
  inboxKey,
  limitKey,
  messagesKey,
  namesKey,
  outboxKey,
  outboxTriesKey,
  runKey,
  runningKey,
  subscribersKey,
  tenantListKey,
  turnsKey,
  usageEndsKey,
  usageKey,
} from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { leaseFields, memberOf } from '../outbox/member.ts';

// The entries of each list that one removal handles. This limits how long it blocks Redis.
const PAGE = 100;
const TURNS_PAGE = 500;

const RECORD_LISTS = ['elicitations', 'approvals'] as const;

/**
 * Finds a person's data by the indexes in their slot. Data is removed before its index, so that an interrupted erasure finds
 * the rest.
 */
export function createRedisErasure(redis: Commands, onError?: (error: unknown) => void): Erasure {
  const guarded = <T>(run: () => Promise<T>) => orUnavailable(run, onError);
  const removeUsage = loadScript(redis, 'runs/remove-usage', onError);

  /** The tasks that resume a run, one for each of its terms. */
  async function resumeMembers(owner: Owner, streamRequestId: string): Promise<string[]> {
    const stream = { ...owner, streamRequestId };
    const fields = await redis.hkeys(runKey(stream));
    const terms = fields.flatMap((field) => /^owner:(\d+)$/.exec(field)?.[1] ?? []);
    return terms.map((term) => memberOf(resumeTask(stream, Number(term))));
  }

  /** Removes the tasks of the delivery kinds that follow the person's turns. */
  async function removeSubscribedTasks(owner: Owner, { elicitationIds, turnIds }: StoredPart): Promise<void> {
    const streams = turnIds.map((streamRequestId) => ({ ...owner, streamRequestId }));
    const kinds = new Set(
      (await Promise.all(streams.map((one) => redis.smembers(subscribersKey(one))))).flat(),
    );
    const subjects = [...elicitationIds, ...streams.map(formatStreamPath)];
    for (const kind of kinds) {
      const members = subjects.map((subject) => `${kind} ${subject}`);
      await removeIndexed(outboxKey(bucketOf(owner), kind), members);
      await redis.hdel(outboxTriesKey(bucketOf(owner)), ...leaseFields(members));
      await removeIndexed(tenantListKey('deliveries', owner.tenant, bucketOf(owner)), members);
    }
  }

  async function removeIndexed(key: string, members: readonly string[]): Promise<void> {
    if (members.length > 0) await redis.zrem(key, ...members);
  }

  /** The members of a tenant's list that name the person, in pages. */
  async function* listedOf(owner: Owner, key: string): AsyncGenerator<string[]> {
    const path = `${formatOwnerPath(owner)}/`;
    let cursor = '0';
    do {
      const [next, found] = await redis.zscan(key, cursor, 'COUNT', TURNS_PAGE);
      // A delivery has its kind before its subject. The scan also returns scores, which never match.
      const named = found.filter((member) => member.slice(member.indexOf(' ') + 1).startsWith(path));
      if (named.length > 0) yield named;
      cursor = next;
    } while (cursor !== '0');
  }

  /** Removes turns whose records have expired but which are still listed. */
  async function removeListedTurns(owner: Owner): Promise<void> {
    const key = tenantListKey('turns', owner.tenant, bucketOf(owner));
    for await (const members of listedOf(owner, key)) await removeIndexed(key, members);
  }

  /**
   * Removes deliveries that are still listed because an earlier version ended them, or because this process does not know their
   * kind.
   */
  async function removeListedDeliveries(owner: Owner): Promise<void> {
    const bucket = bucketOf(owner);
    const key = tenantListKey('deliveries', owner.tenant, bucket);
    for await (const members of listedOf(owner, key)) {
      const kindOf = (member: string) => member.slice(0, member.indexOf(' '));
      for (const kind of new Set(members.map(kindOf)))
        await removeIndexed(
          outboxKey(bucket, kind),
          members.filter((member) => kindOf(member) === kind),
        );
      await redis.hdel(outboxTriesKey(bucket), ...leaseFields(members));
      await removeIndexed(key, members);
    }
  }

  async function conversationIdsOf(owner: Owner, turnIds: readonly string[]): Promise<string[]> {
    const ids = await Promise.all(
      turnIds.map((streamRequestId) => redis.hget(runKey({ ...owner, streamRequestId }), 'conversationId')),
    );
    return ids.filter((id) => id !== null);
  }

  async function remove(owner: Owner, part: StoredPart): Promise<void> {
    const { elicitationIds, turnIds } = part;
    const streams = [...part.streamRequestIds, ...turnIds].map((streamRequestId) => ({
      ...owner,
      streamRequestId,
    }));
    const runs = turnIds.map((streamRequestId) => ({ ...owner, streamRequestId }));
    // No index lists the conversation of a delegate, so its turns name it.
    const conversationIds = [...part.conversationIds, ...(await conversationIdsOf(owner, turnIds))];
    const conversations = conversationIds.map((conversationId) => ({ ...owner, conversationId }));
    const resumes = (await Promise.all(turnIds.map((id) => resumeMembers(owner, id)))).flat();
    await removeSubscribedTasks(owner, part);
    const keys = [
      ...elicitationIds.map(elicitationKey),
      ...streams.flatMap((stream) => [feedKey(stream), subscribersKey(stream)]),
      ...runs.map(runKey),
      ...conversations.flatMap((one) => [conversationKey(one), messagesKey(one)]),
    ];
    const bucket = bucketOf(owner);
    if (runs.length > 0) await redis.hdel(runningKey(bucket), ...runs.map(formatStreamPath));
    await removeIndexed(tenantListKey('turns', owner.tenant, bucket), runs.map(formatStreamPath));
    await removeIndexed(outboxKey(bucket, RESUME_RUN), resumes);
    if (resumes.length > 0) await redis.hdel(outboxTriesKey(bucket), ...leaseFields(resumes));
    if (keys.length > 0) await redis.unlink(...keys);
    const usage = [
      ...turnIds.map((id) => `run ${id}`),
      ...part.conversationIds.flatMap((id) => [`conversation ${id}`, `unlisted ${id}`]),
    ];
    await Promise.all([
      removeIndexed(deadlinesKey(bucket), elicitationIds),
      removeIndexed(inboxKey(owner), elicitationIds),
      removeIndexed(historyKey(owner), elicitationIds),
      ...RECORD_LISTS.map((kind) => removeIndexed(tenantListKey(kind, owner.tenant, bucket), elicitationIds)),
      removeIndexed(conversationsKey(owner), part.conversationIds),
      removeUsage([usageKey(owner), usageEndsKey(owner)], usage),
      removeIndexed(namesKey(owner), namesOf(part)),
    ]);
  }

  return {
    async fence(owner, forMs) {
      await guarded(() => redis.set(fenceKey(owner), '1', 'PX', forMs));
    },
    async *turns(owner) {
      for (let from = 0; ; from += TURNS_PAGE) {
        const entries = await guarded(() =>
          redis.zrange(usageEndsKey(owner), `${from}`, `${from + TURNS_PAGE - 1}`),
        );
        yield after('run ', entries);
        if (entries.length < TURNS_PAGE) return;
      }
    },
    async next(owner) {
      const first = (key: string) => redis.zrange(key, '0', `${PAGE - 1}`);
      const [open = [], ended = [], names = [], usage = [], conversations = []] = await guarded(() =>
        Promise.all(
          [inboxKey, historyKey, namesKey, usageEndsKey, conversationsKey].map((keyOf) =>
            first(keyOf(owner)),
          ),
        ),
      );
      return {
        elicitationIds: [...new Set([...open, ...ended, ...after('elicitation ', names)])],
        streamRequestIds: after('stream ', names),
        idempotencyKeys: after('key ', names).map(askedKeyOf),
        turnIds: after('run ', usage),
        conversationIds: [
          ...new Set([...conversations, ...after('conversation ', usage), ...after('unlisted ', usage)]),
        ],
      };
    },
    remove: ({ tenant, userId }, part) => guarded(() => remove({ tenant, userId }, part)),
    async removeCounters(owner) {
      const keys = [usageKey, usageEndsKey, turnsKey, inboxBytesKey].map((keyOf) => keyOf(owner));
      await guarded(() => redis.unlink(...keys, limitKey('tokens', owner)));
      const { tenant, userId } = owner;
      await guarded(() => removeListedTurns({ tenant, userId }));
      await guarded(() => removeListedDeliveries({ tenant, userId }));
    },
  };
}

function namesOf(part: StoredPart): string[] {
  return [
    ...part.elicitationIds.map((id) => `elicitation ${id}`),
    ...part.streamRequestIds.map((id) => `stream ${id}`),
    ...part.idempotencyKeys.map((asked) => `key ${formatAskedKey(asked)}`),
  ];
}

/** Parses a listed key. An entry without an id comes from an earlier version; the claim on its key lapses by itself. */
function askedKeyOf(entry: string): AskedKey {
  const space = entry.indexOf(' ');
  return { elicitationId: entry.slice(0, Math.max(0, space)), key: entry.slice(space + 1) };
}

function formatAskedKey({ elicitationId, key }: AskedKey): string {
  return elicitationId === '' ? key : `${elicitationId} ${key}`;
}

/** The entries that begin with the prefix, without it. */
function after(prefix: string, entries: readonly string[]): string[] {
  return entries.flatMap((entry) => (entry.startsWith(prefix) ? [entry.slice(prefix.length)] : []));
}
