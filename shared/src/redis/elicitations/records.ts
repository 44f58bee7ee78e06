/**
 * The port of records on Redis: one hash for each row, moved only by step.lua. Keys and arguments are built in
 * `commit-call.ts`, and rows are read in `row-reader.ts`.
 */

import type { Family, FamilyTypes, RowOf, StepOf } from '@parley/core/domain/family';
import { bucketOf } from '@parley/core/domain/ids';
import { ReplyError } from 'ioredis';
import { extendedTo } from '../../domain/extend.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { CommitNotes } from '../../ports/delivery/kind.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';
import type {
  CommitResult,
  CreateNotes,
  CreateResult,
  Move,
  Records,
} from '../../ports/elicitations/elicitations.ts';
import { userErased } from '../../ports/erasure.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups } from '../client/in-groups.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { parseMember } from '../outbox/member.ts';
import { rowOf } from '../records/row-codec.ts';
import { commitCall, createCall } from './commit-call.ts';
import { readPage } from './page.ts';
import { createRowReader } from './row-reader.ts';

export interface RedisRecordsDeps {
  readonly redis: Commands;
  readonly settings: BackendSettings;
  readonly onError?: (error: unknown) => void;
}

const COMMITTED = 1;
const TOO_MANY_OPEN = -1;
const FENCED = -2;
const FAILED = -3;

/** The rows of one family in Redis. */
export function createRedisRecords<T extends FamilyTypes>(
  { redis, settings, onError }: RedisRecordsDeps,
  family: Family<T>,
): Records<T> {
  const commitScript = loadScript(redis, 'elicitations/commit', onError);
  const pageScript = loadScript(redis, 'elicitations/page', onError);
  const commitManyScript = loadScript(redis, 'elicitations/commit-many', onError);
  const { read, readEach } = createRowReader<T>(redis, onError);

  async function create(
    id: string,
    definition: T['definition'],
    notes: CreateNotes = { tasks: [] },
  ): Promise<CreateResult<T> | undefined> {
    const timeoutMs = definition.timeoutSeconds * 1000;
    const { keys, args } = createCall(settings, family, { id, definition }, notes);
    const reply = (await commitScript(keys, args)) as unknown[];
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code === TOO_MANY_OPEN) return undefined;
    if (code === FENCED) throw userErased(Number(fields[0]));
    if (code === COMMITTED) {
      const row: RowOf<T> = {
        id,
        definition,
        status: family.initialStatus,
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
    const row = rowOf<T>(id, fields);
    if (row === undefined) throw new Error('A row that exists came back empty.');
    return { outcome: 'exists', row, now };
  }

  async function commit(
    row: RowOf<T>,
    step: StepOf<T>,
    notes: CommitNotes = { tasks: [] },
  ): Promise<CommitResult<T>> {
    const { keys, args } = commitCall(settings, family, { row, step, notes });
    return resultOf({ row, step, notes }, (await commitScript(keys, args)) as unknown[]);
  }

  function resultOf({ row, step, notes }: Move<T>, reply: readonly unknown[]): CommitResult<T> {
    const { settlement, status, expiresAt } = step;
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code !== COMMITTED) return { committed: false, row: rowOf<T>(row.id, fields), now };
    const noted = [...notes.tasks, ...tasksIn(String(fields[0] ?? ''), row)];
    return {
      committed: true,
      now,
      ...(noted.length > 0 && { noted }),
      row: {
        ...row,
        status,
        revision: row.revision + 1,
        ...(expiresAt !== undefined && extendedTo(row, expiresAt)),
        ...(family.isTerminal(status) && { settlement: settlement ?? {}, settledAt: now }),
      },
    };
  }

  async function commitGroup(moves: readonly Move<T>[]): Promise<PromiseSettledResult<CommitResult<T>>[]> {
    const calls = moves.map((move) => commitCall(settings, family, move));
    const replies = (await commitManyScript(
      calls.flatMap(({ keys }) => keys),
      calls.flatMap(({ keys, args }) => [keys.length, args.length, ...args]),
    )) as unknown[][];
    return Promise.allSettled(moves.map((move, index) => resultIn(move, replies[index] ?? [])));
  }

  /** The result of one of several commits. Its reply may be a Redis error. */
  function resultIn(move: Move<T>, reply: readonly unknown[]): Promise<CommitResult<T>> {
    return orUnavailable(async () => {
      if (reply[0] === FAILED) throw new ReplyError(String(reply[1]));
      return resultOf(move, reply);
    }, onError);
  }

  return {
    create,
    read,
    readEach,
    commit,
    commitEach: (moves) => inGroups(redis, moves, ({ row }) => bucketOf(row.definition), commitGroup),
    page({ statuses, ...request }) {
      const sets = {
        open: statuses === undefined || !statuses.every(family.isTerminal),
        ended: statuses === undefined || statuses.some(family.isTerminal),
      };
      const scope = { ...request, statuses, sets, idPrefix: `${family.prefix}_` };
      return readPage<T>(pageScript, settings.pageBytesMax, scope);
    },
  };
}

/** The deadline that the creation of a row has armed. */
function armedBy({ id, definition, createdAt, expiresAt }: RowOf<FamilyTypes>): ArmedDeadline {
  const delayMs = expiresAt - createdAt;
  return { bucket: bucketOf(definition), deadline: expiresAt, elicitationId: id, delayMs };
}

/** The tasks that a commit noted in addition to the given ones: for detached runs, and for subscribed delivery kinds. */
function tasksIn(lines: string, { definition }: RowOf<FamilyTypes>): OutboxTask[] {
  const bucket = bucketOf(definition);
  return lines
    .split('\n')
    .map((line) => parseMember(line, bucket))
    .filter((task) => task !== undefined);
}
