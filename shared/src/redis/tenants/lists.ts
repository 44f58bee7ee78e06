import { BUCKET_COUNT, bucketOf, bucketOfRecordId, parseStreamPath } from '../../domain/ids.ts';
import type { ListedKind, ListPlace, ListSliceRequest, TenantLists } from '../../ports/tenant-lists.ts';
import type { Commands } from '../client/connect.ts';
import { elicitationKey, runKey, tenantListKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { inGroups, settled } from '../elicitations/in-groups.ts';

const BUCKETS = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);

/** The lists of tenants in Redis: for each kind one sorted set in each bucket, which the commits of that bucket keep. */
export function createRedisTenantLists(redis: Commands, onError?: (error: unknown) => void): TenantLists {
  const sliceScript = loadScript(redis, 'tenants/slice', onError);
  const mendScript = loadScript(redis, 'tenants/mend', onError);

  async function slice(request: ListSliceRequest): Promise<readonly ListPlace[]> {
    const { tenant, kind, userId, limit } = request;
    const args = sliceArgs(request);
    const buckets = userId === undefined ? BUCKETS : [bucketOf({ tenant, userId })];
    const groups = await inGroups(
      redis,
      buckets,
      (bucket) => bucket,
      async (group) => {
        const keys = group.map((bucket) => tenantListKey(kind, tenant, bucket));
        const reply = (await sliceScript(keys, args)) as string[];
        // One reply for the whole group.
        return group.map((_, at) => settled(() => (at === 0 ? placesOf(reply) : [])));
      },
    );
    const places = groups.flatMap((group) => {
      if (group.status === 'rejected') throw group.reason;
      return group.value;
    });
    const sign = directionOf(request) === 'up' ? 1 : -1;
    places.sort((a, b) => sign * (a.score - b.score || (a.member < b.member ? -1 : 1)));
    return places.slice(0, limit).map(({ score, member }) => ({ at: Math.abs(score), member }));
  }

  return {
    slice,
    async mend(tenant, kind, member) {
      const found = rowKeyOf(kind, member);
      if (found === undefined) return;
      await mendScript([found.row, tenantListKey(kind, tenant, found.bucket)], [member, ...found.times]);
    },
  };
}

/** What has ended has a negative score, so that the end of a record moves its one entry. */
function sliceArgs(request: ListSliceRequest): (string | number)[] {
  const { state, after, minAgeMs = '', maxAgeMs = '', limit } = request;
  const score = after === undefined ? '' : state === 'open' ? after.at : -after.at;
  return [state, directionOf(request), score, after?.member ?? '', minAgeMs, maxAgeMs, limit];
}

/** The way through the scores: the newest that is open has the highest score, the newest that has ended the lowest. */
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

/** The hash that a member stands for, its bucket, and the fields with the times of its begin and its end. */
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
