import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { bucketOf, formatStreamPath, isApprovalId, type StreamRef } from '@parley/core/domain/ids';
import type { Run } from '../domain/runs/run.ts';
import type { ListedKind, ListPlace, TenantLists } from '../ports/tenant-lists.ts';
import type { TenantTask } from './outbox/outbox.ts';

interface MemoryTenantListsDeps {
  readonly records: () => readonly RowOf<FamilyTypes>[];
  readonly turns: () => readonly (StreamRef & Pick<Run, 'startedAt' | 'endedAt'>)[];
  readonly deliveries: () => readonly TenantTask[];
}

interface ListedInMemory {
  readonly tenant: string;
  /** Absent for deliveries. */
  readonly userId?: string;
  readonly bucket: number;
  readonly member: string;
  readonly began: number;
  readonly ended: number | undefined;
}

/** The lists of tenants in one process. Each slice is sorted anew from all stored data. */
export function createMemoryTenantLists(deps: MemoryTenantListsDeps): TenantLists {
  function listedOf(kind: ListedKind): ListedInMemory[] {
    if (kind === 'turns')
      return deps.turns().map(({ tenant, userId, streamRequestId, startedAt, endedAt }) => ({
        tenant,
        userId,
        bucket: bucketOf({ tenant, userId }),
        member: formatStreamPath({ tenant, userId, streamRequestId }),
        began: startedAt,
        ended: endedAt,
      }));
    if (kind === 'deliveries')
      return deps.deliveries().map(({ task: { kind: by, subject, bucket }, tenant, since }) => ({
        tenant,
        bucket,
        member: `${by} ${subject}`,
        began: since,
        ended: undefined,
      }));
    return deps
      .records()
      .filter(({ id }) => isApprovalId(id) === (kind === 'approvals'))
      .map(({ id, definition: { tenant, userId }, createdAt, settledAt }) => ({
        tenant,
        userId,
        bucket: bucketOf({ tenant, userId }),
        member: id,
        began: createdAt,
        ended: settledAt,
      }));
  }

  return {
    async slice({ minAgeMs = 0, maxAgeMs = Infinity, ...request }) {
      const { tenant, kind, state, order, after, userId, limit } = request;
      const bucket = request.bucket ?? (userId === undefined ? undefined : bucketOf({ tenant, userId }));
      const now = Date.now();
      // Entries with equal times have the order that Redis gives them, where the scores of ended entries are negative.
      const sign = order === 'oldest' ? 1 : -1;
      const tieSign = state === 'open' ? sign : -sign;
      const compare = (a: ListPlace, b: ListPlace) =>
        a.at === b.at ? tieSign * compareTexts(a.member, b.member) : sign * (a.at - b.at);
      return listedOf(kind)
        .filter((one) => one.tenant === tenant && (bucket === undefined || one.bucket === bucket))
        .filter((one) => one.userId === undefined || userId === undefined || one.userId === userId)
        .filter(({ ended }) => (ended === undefined) === (state === 'open'))
        .map(({ member, began, ended }) => ({ at: ended ?? began, member }))
        .filter(({ at }) => now - at >= minAgeMs && now - at <= maxAgeMs)
        .sort(compare)
        .filter((place) => after === undefined || compare(place, after) > 0)
        .slice(0, limit);
    },
    async count(tenant, kind, ranges) {
      const now = Date.now();
      const listed = listedOf(kind).filter((one) => one.tenant === tenant);
      return ranges.map(
        ({ state, minAgeMs = 0, maxAgeMs = Infinity }) =>
          listed.filter(({ began, ended }) => {
            const age = now - (ended ?? began);
            return (ended === undefined) === (state === 'open') && age >= minAgeMs && age <= maxAgeMs;
          }).length,
      );
    },
    // These lists are derived from the stored data, so they are never inconsistent.
    mend: async () => undefined,
  };
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
