/**
 * The cleanup proves that nothing outlives its retention, and repairs what does. It reads every key; the check of the deadline
 * indexes alone is in `index-check.ts`.
 */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import type { CleanupReport } from '../../ports/elicitations/audit.ts';
import type { KeyName } from '../client/key-names.ts';
import { outboxKey, outboxTriesKey } from '../client/keys.ts';
import { type AuditDeps, sumOver } from './audit-deps.ts';
import { checkInbox, checkIndexes, checkRows } from './index-check.ts';
import { scanMembers, scanNames } from './scan.ts';

const LONGEST_TIMEOUT_MS = TIMEOUT_SECONDS_MAX * 1_000;
/** Lists that stay while their owner adds records, so that they outlive the rows in them. */
const OUTLIVING: ReadonlySet<string> = new Set(['history', 'listed-elicitations', 'listed-approvals']);
// This is longer than any rate window or lease, which last seconds.
const LIMIT_MS = 60_000;

/**
 * Sets an expiry on every key that lacks one it should have, and checks every row and inbox. If there was such a key, a second
 * pass counts how many are left.
 */
export async function cleanUp(deps: AuditDeps, signal?: AbortSignal): Promise<CleanupReport> {
  let seen = 0;
  let removed = 0;
  let repaired = 0;
  for await (const names of scanNames(deps, signal)) {
    const staying = await findStaying(deps, names);
    seen += staying.length;
    removed += await sumOver(staying, (name) => deps.mend(() => makeExpire(deps, name)));
    const histories = names.filter(({ family }) => OUTLIVING.has(family));
    await sumOver(histories, ({ key }) => deps.mend(() => trimHistory(deps, key, signal)));
    const turns = names.filter(({ family }) => family === 'listed-turns');
    await sumOver(turns, ({ key }) => deps.mend(() => trimTurns(deps, key)));
    const deliveries = names.filter(({ family }) => family === 'listed-deliveries');
    await sumOver(deliveries, (name) => deps.mend(() => trimDeliveries(deps, name, signal)));
    // The survey comes after ended rows got their expiry, which is counted as removed, so that they are not counted twice.
    const { rows } = await deps.rows.survey(restsOf('elicitation', names));
    const inboxes = names.filter(({ family }) => family === 'inbox');
    repaired += await checkRows(deps, rows);
    repaired += await sumOver(inboxes, (inbox) => checkInbox(deps, inbox, signal));
  }
  let left = 0;
  if (seen > 0) {
    for await (const names of scanNames(deps, signal)) left += (await findStaying(deps, names)).length;
  }
  repaired += (await checkIndexes(deps, signal)).repaired;
  return { removed, left, repaired };
}

function restsOf(family: string, names: readonly KeyName[]): string[] {
  return names.filter((name) => name.family === family).map(({ rest }) => rest);
}

/** Finds ended rows that stay too long, and keys without the time to live that their family has. */
async function findStaying(deps: AuditDeps, names: readonly KeyName[]): Promise<readonly KeyName[]> {
  const rowNames = names.filter(({ family }) => family === 'elicitation');
  const { rows } = await deps.rows.survey(rowNames.map(({ rest }) => rest));
  const staying = new Set(
    rows.filter((row) => row.state === 'ended' && !deps.leaves(row)).map(({ id }) => id),
  );
  const expiring = names.filter((name) => lifeOf(deps, name) !== undefined);
  const lives = await deps.run(() => Promise.all(expiring.map(({ key }) => deps.redis.pttl(key))));
  return [
    ...rowNames.filter(({ rest }) => staying.has(rest)),
    ...expiring.filter((_, index) => lives[index] === -1),
  ];
}

/** Sets the time to live of a key, unless it has one by now. Returns 1 if that was necessary. */
async function makeExpire(deps: AuditDeps, name: KeyName): Promise<number> {
  const life = lifeOf(deps, name);
  if (life === undefined) return (await deps.rows.repair(name.rest, [])) > 0 ? 1 : 0;
  return deps.run(() => deps.redis.pexpire(name.key, life, 'NX'));
}

/** The longest time to live of a family's keys, in ms; undefined for families whose keys may stay. */
function lifeOf({ retentionMs }: AuditDeps, { family }: KeyName): number | undefined {
  switch (family) {
    case 'feed':
      // An elicitation with the longest timeout may just have been created on the feed.
      return retentionMs + LONGEST_TIMEOUT_MS;
    case 'history':
      return retentionMs;
    case 'claim':
    case 'inbox-bytes':
    case 'names':
    case 'subscribers':
    case 'usage':
    case 'usage-ends':
    case 'turns':
    case 'listed-elicitations':
    case 'listed-approvals':
    case 'listed-turns':
    case 'listed-deliveries':
      return retentionMs + LONGEST_TIMEOUT_MS;
    case 'limit':
      return LIMIT_MS;
    default:
      return undefined;
  }
}

/** Removes the ids of expired rows from a list that outlives them. Such ids are normal and not counted as repairs. */
async function trimHistory(deps: AuditDeps, key: string, signal: AbortSignal | undefined): Promise<number> {
  let forgotten = 0;
  for await (const ids of scanMembers(deps, key, signal)) {
    const { rows } = await deps.rows.survey(ids);
    const gone = rows.filter(({ state }) => state === 'none');
    forgotten += await sumOver(gone, ({ id }) => deps.rows.repair(id, [{ key, lists: 'any' }]));
  }
  return forgotten;
}

/** Removes turns that ended longer ago than the retention from a tenant's list, as the end of any later turn also does. */
function trimTurns({ redis, run, retentionMs }: AuditDeps, key: string): Promise<number> {
  return run(async () => {
    const [seconds] = await redis.time();
    // The score of an ended entry is the negative time of its end.
    return redis.zremrangebyscore(key, retentionMs - Number(seconds) * 1_000, '(0');
  });
}

/** Removes what is not outstanding from a list of deliveries. Processes of earlier versions end tasks without removing them. */
async function trimDeliveries(
  deps: AuditDeps,
  { key, bucket }: KeyName,
  signal: AbortSignal | undefined,
): Promise<number> {
  let forgotten = 0;
  for await (const members of scanMembers(deps, key, signal)) {
    const outboxes = members.map((member) => outboxKey(bucket, member.split(' ', 1).join()));
    forgotten += Number(await deps.unlist([key, outboxTriesKey(bucket), ...outboxes], members));
  }
  return forgotten;
}
