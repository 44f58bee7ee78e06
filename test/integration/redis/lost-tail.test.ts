import { eventNumberOf, type FeedPosition, parseFeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { elicitationKey, feedKey, runKey } from '@parley/shared/redis/client/keys';
import { createRunWriter, RunLostError, type RunWriter } from '@parley/shared/runs/write';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { readReplayFacts } from '../../../services/api/src/turns/replay.ts';
import { findResumable } from '../../../services/api/src/turns/resumable.ts';
import { busWithoutAsks, engineOn } from '../../harness/engines/engines.ts';
import { readAll, readEntries } from '../../harness/engines/observe.ts';
import type { Pods } from '../../harness/engines/pods.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { openRedisPods } from '../../harness/engines/redis-pods.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single } from '../../harness/worker/setup.ts';

let redis: RedisServer;
let pods: Pods;
let engine: Engine;
const stop = new AbortController();

beforeAll(async () => {
  redis = await startRedis();
  pods = await openRedisPods(single(redis.url), ROOMY);
  engine = engineOn(pods.backend);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  stop.abort();
  await pods?.close();
  await redis?.stop();
});

/** Copies keys. The returned function puts the copies back, as a Redis does that lost the writes in between. */
async function copyOf(...keys: readonly string[]): Promise<() => Promise<void>> {
  for (const key of keys) await redisCommand(redis.url, 'COPY', key, `${key}:copy`, 'REPLACE');
  return async () => {
    for (const key of keys) await redisCommand(redis.url, 'COPY', `${key}:copy`, key, 'REPLACE');
  };
}

function brief(item: WatchItem): string {
  return item.type === 'elicitation' ? item.elicitation.elicitationId : item.type;
}

it('readers that have an event which Redis lost are reset, and get the event that took its place', async () => {
  const stream = newStream();
  const { row: first } = await askQuestion(engine, stream);
  const rollBack = await copyOf(feedKey(stream));
  const { row: lost } = await askQuestion(engine, stream);
  const watching = { stream, evenIfSilent: true, signal: stop.signal };
  const open = readAll(await engine.watch(watching));
  const last = (await open.first(2)).at(-1);
  const after = last?.type === 'elicitation' ? parseFeedPosition(last.id) : undefined;
  await rollBack();
  const { row: next } = await askQuestion(engine, stream);
  expect((await open.first(5)).map(brief)).toEqual([first.id, lost.id, 'reset', first.id, next.id]);
  const returned = readAll(await engine.watch({ ...watching, ...(after && { after }) }));
  expect((await returned.first(3)).map(brief)).toEqual(['reset', first.id, next.id]);
});

/** A reader on another pod, which looks again often, and loses the wakes of asks from the call of `loseAsks` on. */
async function followEnds(stream: StreamRef) {
  const { wakes } = pods.second;
  let isLost = false;
  const losing = busWithoutAsks(wakes, () => isLost);
  const second = engineOn(pods.second, { wakes: losing, settings: { recheckMs: 300 } });
  const reader = readAll(await second.watch({ stream, evenIfSilent: false, signal: stop.signal }));
  return {
    reader,
    loseAsks() {
      isLost = true;
    },
  };
}

it('a reader is reset that was told an end after an event which Redis lost', async () => {
  const stream = newStream();
  const { row: first } = await askQuestion(engine, stream);
  const rollBack = await copyOf(feedKey(stream));
  const { row: lost } = await askQuestion(engine, stream);
  const { reader, loseAsks } = await followEnds(stream);
  await reader.first(2);
  await rollBack();
  loseAsks();
  const { row: next } = await askQuestion(engine, stream);
  await answerQuestion(engine, stream, first.id, 'decline');
  const after = ['reset', first.id, next.id, first.id];
  await waitUntil(() => reader.seen.some(({ type }) => type === 'reset'), { what: 'a reset' });
  const seen = (await reader.first(reader.seen.map(brief).indexOf('reset') + 4)).map(brief);
  expect(seen.slice(0, 2)).toEqual([first.id, lost.id]);
  expect(seen.slice(-4)).toEqual(after);
});

it('a reader is reset that was told an end which Redis lost', async () => {
  const stream = newStream();
  const { row } = await askQuestion(engine, stream);
  const { reader } = await followEnds(stream);
  await reader.first(1);
  const rollBack = await copyOf(feedKey(stream), elicitationKey(row.id));
  await answerQuestion(engine, stream, row.id, 'decline');
  await reader.first(2);
  await rollBack();
  expect((await reader.first(4)).map(brief).slice(2)).toEqual(['reset', row.id]);
});

it('readers of a question that is alone on its stream request are reset, too, and no feed is stored for it', async () => {
  const owner = newOwner();
  const { row } = await askQuestion(engine, owner);
  const stream = { ...owner, streamRequestId: row.definition.streamRequestId };
  const rollBack = await copyOf(elicitationKey(row.id));
  await answerQuestion(engine, owner, row.id, 'decline');
  const open = readAll(await engine.watch({ stream, evenIfSilent: false, signal: stop.signal }));
  await open.first(2);
  await rollBack();
  await answerQuestion(engine, owner, row.id, 'cancel');
  const statuses = (await open.first(5)).map((item) =>
    item.type === 'elicitation' ? item.elicitation.status : item.type,
  );
  expect(statuses).toEqual(['pending', 'declined', 'reset', 'pending', 'cancelled']);
  expect(await redisCommand(redis.url, 'EXISTS', feedKey(stream))).toBe(0);
});

it('an event follows the last one of a feed that was trimmed by hand', async () => {
  const kept = 1;
  const stream = newStream();
  const asked = [];
  for (let count = 0; count < 3; count += 1) asked.push((await askQuestion(engine, stream)).row.id);
  const before = await readEntries(pods.second.feed, stream);
  await redisCommand(redis.url, 'XTRIM', feedKey(stream), 'MAXLEN', String(kept));
  for (const id of asked) await answerQuestion(engine, stream, id, 'decline');
  const after = await readEntries(pods.second.feed, stream);
  expect(after.slice(0, -3)).toEqual(before.slice(-kept));
  expect(after.slice(-3).map(({ event }) => event)).toMatchObject(
    asked.map((elicitationId) => ({ elicitationId, status: 'declined' })),
  );
  expect(after.slice(-3).map(({ position }) => eventNumberOf(position))).toEqual([4, 5, 6]);
});

it('an event of a question joins a feed that was begun again after the question', async () => {
  const stream = newStream();
  const { row: old } = await askQuestion(engine, stream);
  const [lost] = await readEntries(pods.second.feed, stream);
  await redisCommand(redis.url, 'DEL', feedKey(stream));
  const { row: next } = await askQuestion(engine, stream);
  await answerQuestion(engine, stream, old.id, 'decline');
  const entries = await readEntries(pods.second.feed, stream);
  expect(entries.map(({ event }) => event)).toMatchObject([
    { elicitationId: next.id, status: 'pending' },
    { elicitationId: old.id, status: 'declined' },
  ]);
  const [epoch, ...others] = new Set(entries.map(({ position }) => position.epoch));
  expect(others).toEqual([]);
  expect(BigInt(epoch ?? 0)).toBeGreaterThan(BigInt(lost?.position.epoch ?? 0));
  await redisCommand(redis.url, 'DEL', feedKey(stream));
  await answerQuestion(engine, stream, next.id, 'decline');
  const [begun] = await readEntries(pods.second.feed, stream);
  expect(BigInt(begun?.position.epoch ?? 0)).toBeGreaterThan(BigInt(epoch ?? 0));
});

function say(text: string): TurnEvent {
  return { type: 'text-delta', block: 'b1', text };
}

async function beginRun(): Promise<{ run: RunRef; writer: RunWriter }> {
  const run = turnOf(newOwner());
  const begun = await pods.backend.runs.begin(run);
  if (begun.type !== 'begun') throw new Error('Another turn runs.');
  return { run, writer: createRunWriter({ runs: pods.backend.runs, run, ...begun }) };
}

async function write(writer: RunWriter, text: string): Promise<void> {
  await writer.append(say(text));
  const call = { toolCallId: text, toolName: 'book', step: 0, state: 'returned' } as const;
  await writer.save([{ type: 'call', call }]);
}

async function textOf(run: RunRef): Promise<string> {
  const entries = await readEntries(pods.second.feed, run);
  return entries.map(({ event }) => ('text' in event ? String(event.text) : '')).join('');
}

/** What an AI SDK client gets that comes back with its last event, up to the end of the turn. */
async function resumed(run: RunRef, after: FeedPosition | undefined): Promise<string> {
  const turns = { isWaiting: async () => false, attend: () => () => undefined };
  const facts = await readReplayFacts({ engine, turns }, run, after);
  const events = await followTurn({ engine, turns }, run, { signal: stop.signal, facts, after });
  const encoder = createAiSdkEncoder(after);
  let bytes = '';
  for await (const event of events) {
    const { frames, next } = encoder.encode(event);
    bytes += frames.map(({ text }) => text).join('\n');
    if (next !== 'more') break;
  }
  return bytes;
}

it('a run writes again what Redis lost of it, its notes included, and its readers start over', async () => {
  const { run, writer } = await beginRun();
  await write(writer, 'one ');
  const rollBack = await copyOf(feedKey(run), runKey(run));
  await write(writer, 'two ');
  await write(writer, 'three ');
  const after = (await readEntries(pods.second.feed, run)).at(-1)?.position;
  await rollBack();
  await writer.end({ type: 'turn-finished', reason: 'stop' }, { status: 'finished', messages: [] });
  expect(await textOf(run)).toBe('one two three ');
  const { run: record } = await pods.second.runs.read(run);
  expect(record?.calls.map(({ toolCallId }) => toolCallId).sort()).toEqual(['one ', 'three ', 'two ']);
  const isRunning = async () => false;
  const { conversations, feed } = pods.second;
  expect(await findResumable({ conversations, feed, isRunning }, run, after)).toMatchObject({
    streamRequestId: run.streamRequestId,
  });
  expect(await resumed(run, after)).toMatch(/^[^\n]*data-stream-reset.*one .*two .*three .*"finish"/s);
});

it('a run that lost more than its pod remembers is ended after what it still has', async () => {
  const { run, writer } = await beginRun();
  const rollBack = await copyOf(feedKey(run), runKey(run));
  const now = performance.now();
  await write(writer, 'long ago ');
  vi.spyOn(performance, 'now').mockImplementation(() => now + 600_000);
  await write(writer, 'just now ');
  await rollBack();
  await expect(write(writer, 'next ')).rejects.toBeInstanceOf(RunLostError);
  await writer.end(
    { type: 'turn-failed', code: 'lost', message: 'Lost.' },
    { status: 'failed', messages: [] },
  );
  expect((await readEntries(pods.second.feed, run)).map(({ event }) => event.type)).toEqual([
    'turn-started',
    'turn-failed',
  ]);
});
