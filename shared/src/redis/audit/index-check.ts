/**
 * Checks the rows and lists that the deadline indexes name, a few million in minutes. Rows that no index names are found by
 * `cleanup.ts`.
 */

import { bucketOf, bucketOfRecordId } from '@parley/core/domain/ids';
import type { IndexReport } from '../../ports/elicitations/audit.ts';
import type { KeyName } from '../client/key-names.ts';
import { BUCKETS, deadlinesKey, inboxKey, recordListKey } from '../client/keys.ts';
import { type AuditDeps, sumOver } from './audit-deps.ts';
import type { RowSet, Survey, SurveyedRow } from './row-audit.ts';
import { scanMembers } from './scan.ts';

/** A list in which the score of an open row is one of the row's fields. */
interface OpenRowSet extends RowSet {
  readonly score: 'createdAt' | 'expiresAt';
}

const DEADLINES = BUCKETS.map(deadlinesKey);

const CHECK_SECONDS = 300;
// Each row costs two reads, because a page lists members and scores.
const READS_PER_ROW = 2;
// This takes about a tenth of the time of one Redis server.
const ROWS_PER_SECOND_MAX = 10_000;

/** The reads per second for a check of this many rows: enough to end in time, but at least `least` and within a bound. */
export function checkReadsPerSecond(rows: number, least: number): number {
  const wanted = Math.min(rows / CHECK_SECONDS, ROWS_PER_SECOND_MAX) * READS_PER_ROW;
  return Math.max(least, wanted);
}

/**
 * Checks that everything in the deadline indexes is open and in its inbox. The more rows there are, the faster they are read.
 */
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

/**
 * Checks that each of these rows is in the lists where it must be, and expires if it has ended. Returns the number of repairs.
 */
export function checkRows(deps: AuditDeps, rows: readonly SurveyedRow[]): Promise<number> {
  return sumOver(rows, (row) => deps.mend(() => checkRow(deps, row)));
}

/** Checks that an inbox lists only open rows. Returns the number of repairs. */
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

/** The lists that must contain an open row. */
function listsOf({ id, owner }: SurveyedRow): OpenRowSet[] {
  const bucket = bucketOfRecordId(id);
  const lists: OpenRowSet[] = [];
  if (bucket !== undefined) lists.push({ key: deadlinesKey(bucket), lists: 'expiresAt', score: 'expiresAt' });
  // On a Cluster, an inbox in another bucket cannot be reached from here; a row never belongs to such an inbox.
  if (owner !== undefined && bucketOf(owner) === bucket) {
    lists.push({ key: inboxKey(owner), lists: 'createdAt', score: 'createdAt' });
    lists.push({ key: recordListKey(id, owner.tenant, bucket), lists: 'standing', score: 'createdAt' });
  }
  return lists;
}

/**
 * Removes everything but open rows from a list of open rows: rows that ended or no longer exist, and texts that are no ids of
 * the bucket. Returns their number, and what `onSurvey` returns.
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
