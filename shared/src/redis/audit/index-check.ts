import { bucketOf, bucketOfRecordId } from '@parley/core/domain/ids';
import type { IndexReport } from '../../ports/elicitations/audit.ts';
import type { KeyName } from '../client/key-names.ts';
import { BUCKETS, deadlinesKey, inboxKey, recordListKey } from '../client/keys.ts';
import { type AuditDeps, sumOver } from './audit-deps.ts';
import type { RowSet, Survey, SurveyedRow } from './row-audit.ts';
import { scanMembers } from './scan.ts';

/** A list in which an open row has one of its fields as its score. */
interface OpenRowSet extends RowSet {
  readonly score: 'createdAt' | 'expiresAt';
}

const DEADLINES = BUCKETS.map(deadlinesKey);

const CHECK_SECONDS = 300;
// A page lists each member with its score.
const READS_PER_ROW = 2;
// About a tenth of the time of one Redis server.
const ROWS_PER_SECOND_MAX = 10_000;

/** How fast a check of so many rows reads: `least`, or what it takes to end in time, up to a bound. */
export function checkReadsPerSecond(rows: number, least: number): number {
  const wanted = Math.min(rows / CHECK_SECONDS, ROWS_PER_SECOND_MAX) * READS_PER_ROW;
  return Math.max(least, wanted);
}

/** What the deadline indexes list is open, and listed in its inbox. The more rows they list, the faster they are read. */
export async function checkIndexes(bounds: AuditDeps, signal?: AbortSignal): Promise<IndexReport> {
  const { open: listed } = await bounds.pending();
  const deps = { ...bounds, readsPerSecond: checkReadsPerSecond(listed, bounds.readsPerSecond) };
  let repaired = 0;
  let open = 0;
  for (const [bucket, key] of DEADLINES.entries()) {
    const list = { key, lists: 'expiresAt' } as const;
    repaired += await dropOthers(deps, { list, bucket, signal }, async ({ rows }) => {
      const openRows = rows.filter(({ state }) => state === 'open');
      open += openRows.length;
      return checkRows(deps, openRows);
    });
  }
  return { open, repaired };
}

/** Every row of these ids is listed where it must be, and expires if it has ended. Returns how many faults were repaired. */
export function checkRows(deps: AuditDeps, rows: readonly SurveyedRow[]): Promise<number> {
  return sumOver(rows, (row) => deps.mend(() => checkRow(deps, row)));
}

/** An inbox lists open rows only. Returns how many faults were repaired. */
export function checkInbox(
  deps: AuditDeps,
  { key, bucket }: KeyName,
  signal: AbortSignal | undefined,
): Promise<number> {
  return dropOthers(deps, { list: { key, lists: 'createdAt' }, bucket, signal });
}

async function checkRow(deps: AuditDeps, row: SurveyedRow): Promise<number> {
  if (row.state === 'none') return 0;
  if (row.state === 'ended') return deps.leaves(row) ? 0 : deps.rows.repair(row.id, []);
  const lists = listsOf(row);
  const scores = await deps.run(() => Promise.all(lists.map(({ key }) => deps.redis.zscore(key, row.id))));
  const right = lists.every(({ score }, index) => Number(scores[index] ?? Number.NaN) === row[score]);
  return right && row.lifeMs === -1 ? 0 : deps.rows.repair(row.id, lists);
}

/** Where an open row must be listed. */
function listsOf({ id, owner }: SurveyedRow): OpenRowSet[] {
  const bucket = bucketOfRecordId(id);
  const lists: OpenRowSet[] = [];
  if (bucket !== undefined) lists.push({ key: deadlinesKey(bucket), lists: 'expiresAt', score: 'expiresAt' });
  // An inbox in another bucket is out of reach on a Cluster, and the row does not belong there.
  if (owner !== undefined && bucketOf(owner) === bucket) {
    lists.push({ key: inboxKey(owner), lists: 'createdAt', score: 'createdAt' });
    lists.push({ key: recordListKey(id, owner.tenant, bucket), lists: 'standing', score: 'createdAt' });
  }
  return lists;
}

/**
 * Drops from a list of open rows whatever is none: rows that ended or are gone, and what is no id of its bucket. Returns
 * how many, and what `onSurvey` returns.
 */
function dropOthers(
  deps: AuditDeps,
  {
    list,
    bucket,
    signal,
  }: { readonly list: RowSet; readonly bucket: number; readonly signal: AbortSignal | undefined },
  onSurvey?: (survey: Survey) => Promise<number>,
): Promise<number> {
  return deps.mend(async () => {
    let dropped = 0;
    for await (const members of scanMembers(deps, list.key, signal)) {
      const strangers = members.filter((member) => bucketOfRecordId(member) !== bucket);
      if (strangers.length > 0) dropped += await deps.run(() => deps.redis.zrem(list.key, ...strangers));
      const survey = await deps.rows.survey(members.filter((member) => !strangers.includes(member)));
      const others = survey.rows.filter(({ state }) => state !== 'open');
      dropped += await sumOver(others, ({ id }) => deps.rows.repair(id, [list]));
      dropped += (await onSurvey?.(survey)) ?? 0;
    }
    return dropped;
  });
}
