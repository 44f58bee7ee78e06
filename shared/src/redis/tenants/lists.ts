/**
 * Reads the lists of a tenant by merging one sorted set per bucket. The commits write these sets; this file only reads and
 * corrects them.
 */

import { BUCKET_COUNT, bucketOf, bucketOfRecordId, parseStreamPath } from '@parley/core/domain/ids';
import type { ListedKind, ListPlace, ListSliceRequest, TenantLists } from '../../ports/tenant-lists.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups, settled } from '../client/in-groups.ts';
import { elicitationKey, inboxKey, runKey, tenantListKey } from '../client/keys.ts';
import { loadScript, type Script } from '../client/script.ts';

const BUCKETS = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);

interface ListKey {
  readonly bucket: number;
  readonly key: string;
}

/** The lists of tenants in Redis: for each kind one sorted set in each bucket, which the commits in that bucket maintain. */
export function createRedisTenantLists(redis: Commands, onError?: (error: unknown) => void): TenantLists {
  const sliceScript = loadScript(redis, 'tenants/slice', onError);
  const countScript = loadScript(redis, 'tenants/count', onError);
  const mendScript = loadScript(redis, 'tenants/mend', onError);

  /** Calls a script on the lists of a tenant. There is one reply for each group of lists. */
  async function onLists<Reply>(
    script: Script,
    lists: readonly ListKey[],
    args: readonly (string | number)[],
  ): Promise<Reply[]> {
    const groups = await inGroups(
      redis,
      lists,
      ({ bucket }) => bucket,
      async (group) => {
        const keys = group.map(({ key }) => key);
        const reply = (await script(keys, args)) as Reply;
        return group.map((_, at) => settled(() => (at === 0 ? [reply] : [])));
      },
    );
    return groups.flatMap((group) => {
      if (group.status === 'rejected') throw group.reason;
      return group.value;
    });
  }

  async function slice(request: ListSliceRequest): Promise<readonly ListPlace[]> {
    const { limit } = request;
    const replies = await onLists<string[]>(sliceScript, listsToMerge(request), sliceArgs(request));
    const places = replies.flatMap(placesOf);
    const sign = directionOf(request) === 'up' ? 1 : -1;
    places.sort((a, b) => sign * (a.score - b.score || (a.member < b.member ? -1 : 1)));
    return places.slice(0, limit).map(({ score, member }) => ({ at: Math.abs(score), member }));
  }

  return {
    slice,
    async count(tenant, kind, ranges) {
      const args = ranges.flatMap(({ state, minAgeMs = '', maxAgeMs = '' }) => [state, minAgeMs, maxAgeMs]);
      const counts = await onLists<number[]>(countScript, listsOf({ tenant, kind }), args);
      return ranges.map((_, at) => counts.reduce((sum, each) => sum + (each[at] ?? 0), 0));
    },
    async mend(tenant, kind, member) {
      if (kind === 'deliveries') return;
      const found = rowKeyOf(kind, member);
      if (found === undefined) return;
      await mendScript([found.row, tenantListKey(kind, tenant, found.bucket)], [member, ...found.times]);
    },
  };
}

/** The lists of a tenant in all buckets. */
function listsOf({ tenant, kind }: Pick<ListSliceRequest, 'tenant' | 'kind'>): ListKey[] {
  return BUCKETS.map((bucket) => ({ bucket, key: tenantListKey(kind, tenant, bucket) }));
}

/**
 * For one person, only the list of the person's bucket is read. For the person's open records it is the inbox, which has the
 * same scores.
 */
function listsToMerge(request: ListSliceRequest): ListKey[] {
  const { tenant, kind, state, userId } = request;
  if (userId === undefined) return listsOf(request).filter((one) => isIn(one, request));
  const owner = { tenant, userId };
  const bucket = bucketOf(owner);
  const isInInbox = state === 'open' && (kind === 'elicitations' || kind === 'approvals');
  return [{ bucket, key: isInInbox ? inboxKey(owner) : tenantListKey(kind, tenant, bucket) }];
}

const isIn = ({ bucket }: ListKey, { bucket: only }: ListSliceRequest) =>
  only === undefined || bucket === only;

const PREFIXES = { elicitations: 'el_', approvals: 'ap_', turns: '', deliveries: '' } as const;

/** The score of an ended entry is negative, so that the end of a record only changes the score of its one entry. */
function sliceArgs(request: ListSliceRequest): (string | number)[] {
  const { kind, state, after, minAgeMs = '', maxAgeMs = '', limit } = request;
  const score = after === undefined ? '' : state === 'open' ? after.at : -after.at;
  return [state, directionOf(request), score, after?.member ?? '', PREFIXES[kind], minAgeMs, maxAgeMs, limit];
}

/** The direction through the scores: the newest open entry has the highest score, and the newest ended entry the lowest. */
function directionOf({ state, order }: Pick<ListSliceRequest, 'state' | 'order'>): 'up' | 'down' {
  return (state === 'open') === (order === 'newest') ? 'down' : 'up';
}

interface ScoredPlace {
  readonly score: number;
  readonly member: string;
}

function placesOf(reply: readonly string[]): ScoredPlace[] {
  const places: ScoredPlace[] = [];
  for (let at = 0; at + 1 < reply.length; at += 2)
    places.push({ score: Number(reply[at]), member: reply[at + 1] ?? '' });
  return places;
}

/** The hash to which a member refers, its bucket, and the fields with the times of its start and end. */
function rowKeyOf(kind: ListedKind, member: string) {
  if (kind === 'turns') {
    const stream = parseStreamPath(member);
    return stream && { row: runKey(stream), bucket: bucketOf(stream), times: ['startedAt', 'endedAt'] };
  }
  const bucket = bucketOfRecordId(member);
  return bucket === undefined
    ? undefined
    : { row: elicitationKey(member), bucket, times: ['createdAt', 'settledAt'] };
}
