import { bucketOfElicitationId } from '../domain/ids.ts';
import type { Definition } from '../domain/row.ts';
import type { Commands } from './connect.ts';
import { elicitationKey } from './keys.ts';
import { loadScript } from './script.ts';

/** A row as a survey saw it; it may have moved on since. */
export interface SurveyedRow {
  readonly id: string;
  readonly state: 'open' | 'ended' | 'none';
  readonly createdAt: number;
  /** How long it will live, in ms; -1 for ever. */
  readonly lifeMs: number;
  /** Whose it is; of open rows only, and only when it can be read. */
  readonly owner?: Pick<Definition, 'tenant' | 'userId'>;
}

export interface Survey {
  readonly rows: readonly SurveyedRow[];
  /** Redis clock in ms; 0 when no row was looked at. */
  readonly now: number;
}

/** A set that may list a row, and by what rule: open rows by that field, or (`any`) whatever row there is. */
export interface RowSet {
  readonly key: string;
  readonly lists: 'createdAt' | 'expiresAt' | 'any';
}

export interface RowAudit {
  /** Looks at many rows; ids that are none of ours are passed over. */
  survey(ids: readonly string[]): Promise<Survey>;
  /** Makes a row and the sets that list it agree, atomically. Returns how many things were wrong. */
  repair(id: string, sets: readonly RowSet[]): Promise<number>;
}

const BATCH = 50;

type RowReply = [] | [createdAt: string, settledAt: string, lifeMs: number, definition: string];

/** Looks at rows in batches, one bucket each so that it works on a Cluster, and repairs them one by one. */
export function createRowAudit(
  redis: Commands,
  retentionMs: number,
  onError?: (error: unknown) => void,
): RowAudit {
  const surveyScript = loadScript(redis, 'survey', onError);
  const repairScript = loadScript(redis, 'repair', onError);

  async function surveyBatch(ids: readonly string[]): Promise<Survey> {
    const reply = (await surveyScript(ids.map(elicitationKey), [])) as [number, ...RowReply[]];
    const [now, ...rows] = reply;
    return { now, rows: ids.map((id, index) => rowOf(id, rows[index] ?? [])) };
  }

  return {
    async survey(ids) {
      const surveys = await Promise.all(batchesOf(ids).map(surveyBatch));
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

function batchesOf(ids: readonly string[]): string[][] {
  const batches: string[][] = [];
  const filling = new Map<number, string[]>();
  for (const id of ids) {
    const bucket = bucketOfElicitationId(id);
    if (bucket === undefined) continue;
    let batch = filling.get(bucket);
    if (batch === undefined || batch.length === BATCH) {
      batch = [];
      batches.push(batch);
      filling.set(bucket, batch);
    }
    batch.push(id);
  }
  return batches;
}

function rowOf(id: string, reply: RowReply): SurveyedRow {
  if (reply.length === 0) return { id, state: 'none', createdAt: 0, lifeMs: 0 };
  const [createdAt, settledAt, lifeMs, definition] = reply;
  const state = settledAt === '' ? 'open' : 'ended';
  const owner = ownerOf(definition);
  return { id, state, createdAt: Number(createdAt), lifeMs, ...(owner !== undefined && { owner }) };
}

function ownerOf(definition: string): SurveyedRow['owner'] {
  try {
    const { tenant, userId } = JSON.parse(definition) as Partial<Definition>;
    return tenant === undefined || userId === undefined ? undefined : { tenant, userId };
  } catch {
    return undefined;
  }
}
