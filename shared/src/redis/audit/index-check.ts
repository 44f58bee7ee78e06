import { BUCKET_COUNT, bucketOf, bucketOfElicitationId } from '../../domain/ids.ts';
import type { IndexReport } from '../../ports/elicitations/audit.ts';
import type { KeyName } from '../client/key-names.ts';
import { deadlinesKey, inboxKey } from '../client/keys.ts';
import { type AuditDeps, sumOver } from './audit-deps.ts';
import type { RowSet, SurveyedRow } from './row-audit.ts';
import { scanMembers, scanNames } from './scan.ts';

/** A list of open rows by one of their fields. */
type OpenRowSet = RowSet & { readonly lists: 'createdAt' | 'expiresAt' };

const DEADLINES = Array.from({ length: BUCKET_COUNT }, (_, bucket) => deadlinesKey(bucket));

/** Every open row is listed, nothing else is, and every ended row leaves. */
export async function checkIndexes(deps: AuditDeps, signal?: AbortSignal): Promise<IndexReport> {
  let repaired = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let now = 0;
  for await (const names of scanNames(deps, signal)) {
    const { rows, ...survey } = await deps.rows.survey(restsOf('elicitation', names));
    const inboxes = names.filter(({ family }) => family === 'inbox');
    repaired += await sumOver(rows, (row) => deps.mend(() => checkRow(deps, row)));
    repaired += await sumOver(inboxes, ({ key, bucket }) =>
      dropOthers(deps, { key, lists: 'createdAt' }, bucket, signal),
    );
    now = Math.max(now, survey.now);
    for (const { state, createdAt } of rows) if (state === 'open') oldest = Math.min(oldest, createdAt);
  }
  repaired += await sumOver([...DEADLINES.entries()], ([bucket, key]) =>
    dropOthers(deps, { key, lists: 'expiresAt' }, bucket, signal),
  );
  const open = await sumOver(DEADLINES, (key) => deps.mend(() => deps.run(() => deps.redis.zcard(key))));
  return { open, oldestAgeMs: Math.max(0, now - oldest), repaired };
}

function restsOf(family: string, names: readonly KeyName[]): string[] {
  return names.filter((name) => name.family === family).map(({ rest }) => rest);
}

async function checkRow(deps: AuditDeps, row: SurveyedRow): Promise<number> {
  if (row.state === 'none') return 0;
  if (row.state === 'ended') return deps.leaves(row) ? 0 : deps.rows.repair(row.id, []);
  const lists = listsOf(row);
  const scores = await deps.run(() => Promise.all(lists.map(({ key }) => deps.redis.zscore(key, row.id))));
  const right = lists.every(({ lists: field }, index) => Number(scores[index] ?? Number.NaN) === row[field]);
  return right && row.lifeMs === -1 ? 0 : deps.rows.repair(row.id, lists);
}

/** Where an open row must be listed. */
function listsOf({ id, owner }: SurveyedRow): OpenRowSet[] {
  const bucket = bucketOfElicitationId(id);
  const lists: OpenRowSet[] = [];
  if (bucket !== undefined) lists.push({ key: deadlinesKey(bucket), lists: 'expiresAt' });
  // An inbox in another bucket is out of reach on a Cluster, and the row does not belong there.
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
      dropped += await sumOver(others, ({ id }) => deps.rows.repair(id, [list]));
    }
    return dropped;
  });
}
