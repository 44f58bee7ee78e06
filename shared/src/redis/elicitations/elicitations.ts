import type { Definition, Row } from '../../domain/elicitations/row.ts';
import { isTerminal } from '../../domain/elicitations/status.ts';
import type { Step } from '../../domain/elicitations/transition.ts';
import { BUCKET_COUNT, bucketOf } from '../../domain/ids.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { CommitNotes } from '../../ports/delivery/kind.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';
import type {
  CommitResult,
  CreateNotes,
  CreateResult,
  Elicitations,
  Reading,
} from '../../ports/elicitations/elicitations.ts';
import { userErased } from '../../ports/erasure.ts';
import type { Commands } from '../client/connect.ts';
import { armedKey, deadlinesKey, elicitationKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { parseMember } from '../outbox/member.ts';
import { commitCall, createCall } from './commit-call.ts';
import { readPage } from './page.ts';
import { rowOf, rowOfHash } from './row-codec.ts';

export interface RedisElicitationsDeps {
  readonly redis: Commands;
  readonly settings: BackendSettings;
  readonly onError?: (error: unknown) => void;
}

const COMMITTED = 1;
const TOO_MANY_OPEN = -1;
const FENCED = -2;

/** The rows in Redis: one hash each, moved only by commit.lua. */
export function createRedisElicitations({ redis, settings, onError }: RedisElicitationsDeps): Elicitations {
  const commitScript = loadScript(redis, 'elicitations/commit', onError);
  const readScript = loadScript(redis, 'client/read-hash', onError);
  const pageScript = loadScript(redis, 'elicitations/page', onError);
  const keepScript = loadScript(redis, 'elicitations/keep', onError);
  // Called for each of 64 buckets every few seconds: its caller reports an outage once.
  const dueScript = loadScript(redis, 'elicitations/due');
  const armScript = loadScript(redis, 'elicitations/arm');

  async function read(id: string): Promise<Reading> {
    const key = elicitationKey(id);
    // On a Cluster the clock of another server could be read.
    if (redis.isCluster) {
      const [now, ...fields] = (await readScript([key], [])) as unknown[];
      return { row: rowOf(id, fields), now: Number(now) };
    }
    // Without a script this costs Redis a third. A commit in between makes the next one decide again.
    const [hash, now] = await Promise.all([
      orUnavailable(() => redis.hgetall(key), onError),
      readClock(redis, onError),
    ]);
    return { row: rowOfHash(id, hash), now };
  }

  async function readMany(ids: readonly string[]) {
    if (ids.length === 0) return { rows: [], now: await readClock(redis, onError) };
    const readings = await Promise.all(ids.map(read));
    return {
      rows: readings.map(({ row }) => row),
      now: Math.min(...readings.map(({ now }) => now)),
    };
  }

  async function create(
    id: string,
    definition: Definition,
    notes: CreateNotes = { tasks: [] },
  ): Promise<CreateResult | undefined> {
    const timeoutMs = definition.timeoutSeconds * 1000;
    const { keys, args } = createCall(settings, id, definition, notes);
    const reply = (await commitScript(keys, args)) as unknown[];
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code === TOO_MANY_OPEN) return undefined;
    if (code === FENCED) throw userErased(Number(fields[0]));
    if (code === COMMITTED) {
      const row: Row = {
        id,
        definition,
        status: 'pending',
        revision: 1,
        createdAt: now,
        expiresAt: now + timeoutMs,
      };
      const noted = [...notes.tasks, ...tasksIn(String(fields[0] ?? ''), row)];
      return {
        outcome: 'created',
        row,
        now,
        ...(noted.length > 0 && { noted }),
        ...(fields[1] === 1 && { armed: armedBy(row) }),
      };
    }
    const row = rowOf(id, fields);
    if (row === undefined) throw new Error('A row that exists came back empty.');
    return { outcome: 'exists', row, now };
  }

  async function commit(row: Row, step: Step, notes: CommitNotes = { tasks: [] }): Promise<CommitResult> {
    const { settlement, status } = step;
    const terminal = isTerminal(status);
    const { keys, args } = commitCall(settings, row, step, notes);
    const reply = (await commitScript(keys, args)) as unknown[];
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code !== COMMITTED) return { committed: false, row: rowOf(row.id, fields), now };
    const noted = [...notes.tasks, ...tasksIn(String(fields[0] ?? ''), row)];
    return {
      committed: true,
      now,
      ...(noted.length > 0 && { noted }),
      row: {
        ...row,
        status,
        revision: row.revision + 1,
        ...(terminal && { settlement: settlement ?? {}, settledAt: now }),
      },
    };
  }

  return {
    create,
    read,
    readMany,
    commit,
    page: (request) => readPage(pageScript, settings.pageBytesMax, request),
    async due(bucket, limit, skip = 0) {
      return (await dueScript([deadlinesKey(bucket % BUCKET_COUNT)], [limit, skip])) as string[];
    },
    async arm(bucket, skip = 0): Promise<ArmedDeadline | undefined> {
      const keys = [deadlinesKey(bucket), armedKey(bucket)];
      const reply = (await armScript(keys, [skip])) as [] | [number, string, number];
      if (reply.length === 0) return undefined;
      const [deadline, elicitationId, delayMs] = reply;
      return { bucket, deadline, elicitationId, delayMs };
    },
    async keep(id, forMs) {
      await keepScript([elicitationKey(id)], [Math.ceil(forMs), settings.retentionMs]);
    },
    async forget(bucket, id) {
      await orUnavailable(() => redis.zrem(deadlinesKey(bucket), id), onError);
    },
  };
}

/** The deadline of a row that its creation has armed. */
function armedBy({ id, definition, createdAt, expiresAt }: Row): ArmedDeadline {
  const delayMs = expiresAt - createdAt;
  return { bucket: bucketOf(definition), deadline: expiresAt, elicitationId: id, delayMs };
}

/** The tasks that a commit has noted beyond those it was given: for detached runs, and for subscribed delivery kinds. */
function tasksIn(lines: string, { definition }: Row): OutboxTask[] {
  const bucket = bucketOf(definition);
  return lines
    .split('\n')
    .map((line) => parseMember(line, bucket))
    .filter((task) => task !== undefined);
}

/** The clock, where no row is read together with it. */
async function readClock(redis: Commands, onError?: (error: unknown) => void): Promise<number> {
  const [seconds, microseconds] = await orUnavailable(() => redis.time(), onError);
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
