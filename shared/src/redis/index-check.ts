import { BUCKET_COUNT, bucketOf, bucketOfElicitationId } from '../domain/ids.ts';
import type { IndexReport } from '../ports/audit.ts';
import type { AuditDeps } from './audit-deps.ts';
import { deadlinesKey, inboxKey } from './keys.ts';
import type { RowSet, SurveyedRow } from './row-audit.ts';
import { scanMembers, scanNames } from './scan.ts';

const DEADLINES = Array.from({ length: BUCKET_COUNT }, (_, bucket) => deadlinesKey(bucket));

/** Every open row is listed, nothing else is, and every ended row leaves. */
export async function checkIndexes(deps: AuditDeps, signal?: AbortSignal): Promise<IndexReport> {
  let repaired = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let now = 0;
  for await (const names of scanNames(deps, signal)) {
    const ids = names.filter(({ family }) => family === 'elicitation').map(({ rest }) => rest);
    const survey = await deps.rows.survey(ids);
    repaired += sum(await Promise.all(survey.rows.map((row) => repairRow(deps, row))));
    now = Math.max(now, survey.now);
    for (const { state, createdAt } of survey.rows)
      if (state === 'open') oldest = Math.min(oldest, createdAt);
    for (const { key, bucket, family } of names) {
      if (family === 'inbox') repaired += await dropOthers(deps, { key, lists: 'createdAt' }, bucket, signal);
    }
  }
  for (const [bucket, key] of DEADLINES.entries()) {
    repaired += await dropOthers(deps, { key, lists: 'expiresAt' }, bucket, signal);
  }
  const open = sum(await Promise.all(DEADLINES.map((key) => deps.mend(() => size(deps, key)))));
  return { open, oldestAgeMs: Math.max(0, now - oldest), repaired };
}

function repairRow(deps: AuditDeps, row: SurveyedRow): Promise<number> {
  return deps.mend(async () => {
    if (row.state === 'none' || (row.state === 'ended' && deps.leaves(row))) return 0;
    return deps.rows.repair(row.id, row.state === 'open' ? listsOf(row) : []);
  });
}

/** Where an open row must be listed. */
function listsOf({ id, owner }: SurveyedRow): RowSet[] {
  const bucket = bucketOfElicitationId(id);
  const lists: RowSet[] = [];
  if (bucket !== undefined) lists.push({ key: deadlinesKey(bucket), lists: 'expiresAt' });
  // The inbox of somebody in another bucket would be out of reach on a Cluster, and wrong.
  if (owner !== undefined && bucketOf(owner) === bucket)
    lists.push({ key: inboxKey(owner), lists: 'createdAt' });
  return lists;
}

/** Drops from a list of open rows whatever is none: rows that ended or are gone, and what is no id of its bucket. */
function dropOthers(
  deps: AuditDeps,
  list: RowSet,
  bucket: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  return deps.mend(async () => {
    let dropped = 0;
    for await (const members of scanMembers(deps, list.key, signal)) {
      const strangers = members.filter((member) => bucketOfElicitationId(member) !== bucket);
      if (strangers.length > 0) dropped += await deps.run(() => deps.redis.zrem(list.key, ...strangers));
      const { rows } = await deps.rows.survey(members.filter((member) => !strangers.includes(member)));
      const others = rows.filter(({ state }) => state !== 'open');
      dropped += sum(await Promise.all(others.map(({ id }) => deps.rows.repair(id, [list]))));
    }
    return dropped;
  });
}

function size({ run, redis }: AuditDeps, key: string): Promise<number> {
  return run(() => redis.zcard(key));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
