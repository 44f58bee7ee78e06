import type { Definition, Row } from '../../domain/elicitations/row.ts';
import { isTerminal } from '../../domain/elicitations/status.ts';
import type { Step } from '../../domain/elicitations/transition.ts';
import { BUCKET_COUNT, bucketOfElicitationId, isMintedStream } from '../../domain/ids.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type {
  CommitResult,
  CreateResult,
  Elicitations,
  Reading,
} from '../../ports/elicitations/elicitations.ts';
import type { Commands } from '../client/connect.ts';
import { type CommitNames, commitNames, deadlinesKey, elicitationKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { encodeWakeTail } from '../feed/wake-codec.ts';
import { nameOfTask, taskOfName } from '../outbox/outbox-names.ts';
import { pageOf } from './page.ts';
import { rowOf } from './row-codec.ts';

export interface RedisElicitationsDeps {
  readonly redis: Commands;
  readonly settings: BackendSettings;
  readonly onError?: (error: unknown) => void;
}

const COMMITTED = 1;
const TOO_MANY_OPEN = -1;

/** The rows in Redis: one hash each, moved only by commit.lua. */
export function createRedisElicitations({ redis, settings, onError }: RedisElicitationsDeps): Elicitations {
  const commitScript = loadScript(redis, 'elicitations/commit', onError);
  const readScript = loadScript(redis, 'elicitations/read', onError);
  const keepScript = loadScript(redis, 'audit/keep', onError);
  // One for every bucket, every few seconds: its caller tells of an outage once, not 64 times.
  const dueScript = loadScript(redis, 'elicitations/due');

  /** A turn bounds its feed itself, and no question of it may push out what was told before. */
  function feedEventsMax({ streamRequestId }: Definition): number {
    return isMintedStream(streamRequestId) ? Number.MAX_SAFE_INTEGER : settings.feedEventsMax;
  }

  async function read(id: string): Promise<Reading> {
    const [now, ...fields] = (await readScript([elicitationKey(id)], [])) as unknown[];
    return { row: rowOf(id, fields), now: Number(now) };
  }

  async function readMany(ids: readonly string[]) {
    if (ids.length === 0) return { rows: [], now: await clockOf(redis, onError) };
    const readings = await Promise.all(ids.map(read));
    return {
      rows: readings.map(({ row }) => row),
      now: Math.min(...readings.map(({ now }) => now)),
    };
  }

  async function create(id: string, definition: Definition): Promise<CreateResult | undefined> {
    const timeoutMs = definition.timeoutSeconds * 1000;
    const event = {
      type: 'elicitation-request',
      elicitationId: id,
      revision: 1,
      status: 'pending',
    } as const;
    const names = commitNames(id, definition);
    const reply = (await commitScript(names.keys, [
      0,
      'open',
      id,
      'pending',
      0,
      ...messagesOf(names, event, encodeWakeTail(event, undefined)),
      settings.retentionMs,
      feedEventsMax(definition),
      timeoutMs,
      JSON.stringify(definition),
      settings.openPerUserMax,
    ])) as unknown[];
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code === TOO_MANY_OPEN) return undefined;
    if (code === COMMITTED) {
      const row: Row = {
        id,
        definition,
        status: 'pending',
        revision: 1,
        createdAt: now,
        expiresAt: now + timeoutMs,
      };
      return { outcome: 'created', row, now };
    }
    const row = rowOf(id, fields);
    if (row === undefined) throw new Error('A row that exists came back empty.');
    return { outcome: 'exists', row, now };
  }

  async function commit(row: Row, step: Step): Promise<CommitResult> {
    const { event, settlement, status, guard } = step;
    const terminal = isTerminal(status);
    const names = commitNames(row.id, row.definition);
    const webhook = terminal ? webhookOf(row) : undefined;
    const reply = (await commitScript(names.keys, [
      row.revision,
      guard,
      row.id,
      status,
      terminal ? 1 : 0,
      ...messagesOf(names, event, encodeWakeTail(event, settlement)),
      settings.retentionMs,
      feedEventsMax(row.definition),
      JSON.stringify(settlement ?? {}),
      settings.historyPerUserMax,
      webhook === undefined ? settings.retentionMs : settings.keptForWebhookMs,
      webhook === undefined ? '' : nameOfTask(webhook),
    ])) as unknown[];
    const [code, time, ...fields] = reply;
    const now = Number(time);
    if (code !== COMMITTED) return { committed: false, row: rowOf(row.id, fields), now };
    const noted = [
      ...(webhook === undefined ? [] : [webhook]),
      ...(terminal ? wakesIn(String(fields[1] ?? '')) : []),
    ];
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
    page: (request) => pageOf({ redis, readMany, onError }, request),
    async due(bucket, limit, skip = 0) {
      return (await dueScript([deadlinesKey(bucket % BUCKET_COUNT)], [limit, skip])) as string[];
    },
    async keep(id, forMs) {
      await keepScript([elicitationKey(id)], [Math.ceil(forMs), settings.retentionMs]);
    },
    async forget(id) {
      const bucket = bucketOfElicitationId(id);
      if (bucket !== undefined) await orUnavailable(() => redis.zrem(deadlinesKey(bucket), id), onError);
    },
  };
}

/** What the end of a row has to tell its asker by. */
function webhookOf({ id, definition }: Row): OutboxTask | undefined {
  return definition.webhookUrl === undefined ? undefined : { kind: 'webhook', elicitationId: id };
}

/** The tasks of detached runs, from the lines that a row keeps of them. */
function wakesIn(lines: string): OutboxTask[] {
  return lines
    .split('\n')
    .map((line) => taskOfName(`wake ${line}`))
    .filter((task) => task !== undefined);
}

/** The clock when there is no row to read it with. */
async function clockOf(redis: Commands, onError?: (error: unknown) => void): Promise<number> {
  const [seconds, microseconds] = await orUnavailable(() => redis.time(), onError);
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/** Event and wake of a commit, with the channels they go out on, in the order of commit.lua's arguments. */
function messagesOf(
  { streamChannel, inboxChannel }: CommitNames,
  event: Step['event'],
  wakeTail: string,
): string[] {
  const { type, ...data } = event;
  return [type, JSON.stringify(data), wakeTail, streamChannel, inboxChannel];
}
