/**
 * Reads and repairs single rows together with their lists, each repair in one atomic step. Which rows and lists to check is
 * decided by `cleanup.ts` and `index-check.ts`.
 */

import { bucketOfRecordId } from '@parley/core/domain/ids';
import type { Definition } from '../../domain/elicitations/row.ts';
import type { Commands } from '../client/connect.ts';
import { elicitationKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';

/** A row at the time of a survey. It may have changed since then. */
export interface SurveyedRow {
  readonly id: string;
  readonly state: 'open' | 'ended' | 'none';
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The remaining time to live, in ms; -1 for no expiry. */
  readonly lifeMs: number;
  /** How long the row is kept after its end, in ms, if not for the retention. */
  readonly keptMs?: number;
  /** The owner; only of open rows, and only if it can be read. */
  readonly owner?: Pick<Definition, 'tenant' | 'userId'>;
}

export interface Survey {
  readonly rows: readonly SurveyedRow[];
  /** The Redis clock in ms; 0 when no row was read. */
  readonly now: number;
}

/**
 * A set that may list a row, and its rule: it lists open rows with that field as their score, or every row with the score of a
 * tenant's list (`standing`), or every existing row (`any`).
 */
export interface RowSet {
  readonly key: string;
  readonly lists: 'createdAt' | 'expiresAt' | 'standing' | 'any';
}

export interface RowAudit {
  /** Reads the state of many rows. Texts that are not ids of records are skipped. */
  survey(ids: readonly string[]): Promise<Survey>;
  /** Makes a row and the sets that list it agree, atomically. Returns the number of repairs. */
  repair(id: string, sets: readonly RowSet[]): Promise<number>;
}

const BATCH = 50;

type RowReply =
  | []
  | [
      createdAt: string,
      expiresAt: string,
      settledAt: string,
      lifeMs: number,
      definition: string,
      keptMs: string,
    ];

/** Surveys rows in batches and repairs them one by one. */
export function createRowAudit(
  redis: Commands,
  retentionMs: number,
  onError?: (error: unknown) => void,
): RowAudit {
  const surveyScript = loadScript(redis, 'audit/survey', onError);
  const repairScript = loadScript(redis, 'audit/repair', onError);

  async function surveyBatch(ids: readonly string[]): Promise<Survey> {
    const reply = (await surveyScript(ids.map(elicitationKey), [])) as [number, ...RowReply[]];
    const [now, ...rows] = reply;
    return { now, rows: ids.map((id, index) => rowOf(id, rows[index] ?? [])) };
  }

  return {
    async survey(ids) {
      const own = ids.filter((id) => bucketOfRecordId(id) !== undefined);
      const surveys = await Promise.all(groupsOf(redis, own).flatMap(batchesOf).map(surveyBatch));
      return {
        rows: surveys.flatMap(({ rows }) => rows),
        now: Math.max(0, ...surveys.map(({ now }) => now)),
      };
    },
    async repair(id, sets) {
      const keys = [elicitationKey(id), ...sets.map(({ key }) => key)];
      return (await repairScript(keys, [id, retentionMs, ...sets.map(({ lists }) => lists)])) as number;
    },
  };
}

/** Groups ids so that one script call may read a group: all ids together, or on a Cluster those of one bucket. */
function groupsOf(redis: Commands, ids: readonly string[]): readonly (readonly string[])[] {
  if (!redis.isCluster) return [ids];
  const groups = new Map<number | undefined, string[]>();
  for (const id of ids) {
    const bucket = bucketOfRecordId(id);
    const group = groups.get(bucket);
    if (group === undefined) groups.set(bucket, [id]);
    else group.push(id);
  }
  return [...groups.values()];
}

function batchesOf(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) =>
    ids.slice(index * BATCH, (index + 1) * BATCH),
  );
}

function rowOf(id: string, reply: RowReply): SurveyedRow {
  if (reply.length === 0) return { id, state: 'none', createdAt: 0, expiresAt: 0, lifeMs: 0 };
  const [createdAt, expiresAt, settledAt, lifeMs, definition, keptMs] = reply;
  const owner = ownerOf(definition);
  return {
    id,
    state: settledAt === '' ? 'open' : 'ended',
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    lifeMs,
    ...(keptMs !== '' && { keptMs: Number(keptMs) }),
    ...(owner !== undefined && { owner }),
  };
}

function ownerOf(definition: string): SurveyedRow['owner'] {
  try {
    const { tenant, userId } = JSON.parse(definition) as Partial<Definition>;
    return tenant === undefined || userId === undefined ? undefined : { tenant, userId };
  } catch {
    return undefined;
  }
}
