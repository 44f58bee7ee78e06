/** Runs on Redis: one hash for each turn, written only by scripts. The rules are in the scripts; this file calls them. */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import {
  BUCKET_COUNT,
  bucketOf,
  formatStreamPath,
  parseStreamPath,
  type StreamRef,
} from '@parley/core/domain/ids';
import type { ChatQuota } from '../../domain/runs/commands.ts';
import { DETACHED, type RunRef, type RunStanding, UNOWNED } from '../../domain/runs/run.ts';
import type { TurnEvent } from '../../domain/runs/turn-events.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import { userErased } from '../../ports/erasure.ts';
import { RESUME_RUN, resumeTask } from '../../ports/runs/resume-task.ts';
import {
  type BeginResult,
  type NewRun,
  type Runs,
  type RunText,
  type RunWrite,
  tokensOf,
  type WriteResult,
} from '../../ports/runs/runs.ts';
import type { Commands } from '../client/connect.ts';
import {
  channelName,
  conversationKey,
  conversationsKey,
  elicitationKey,
  feedKey,
  fenceKey,
  followerKeys,
  limitKey,
  messagesKey,
  outboxKey,
  outboxTriesKey,
  runKey,
  runningKey,
  tenantListKey,
  turnsKey,
  usageEndsKey,
  usageKey,
} from '../client/keys.ts';
import { loadNamedScript, loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { encodeLiveTail, TURN_WAKE_TAIL } from '../feed/wake-codec.ts';
import { memberOf } from '../outbox/member.ts';
import { watchedKey } from '../tenants/keys.ts';
import { createRunReader } from './read-with-feed.ts';
import { fieldOf, HEAD_FIELDS, headOf, runOf, STANDING_FIELDS, standingOf } from './run-codec.ts';
import { listStoredRuns } from './stored-runs.ts';
import { withTokenRefusals } from './token-refusals.ts';

const SCAN_COUNT = 500;
const A_DAY_MS = 86_400_000;

interface RedisRunsDeps {
  readonly redis: Commands;
  readonly settings: BackendSettings;
  readonly onError?: (error: unknown) => void;
}

export function createRedisRuns({ redis, settings, onError }: RedisRunsDeps): Runs {
  const beginScript = loadNamedScript(redis, 'runs/begin', onError);
  const writeScript = loadNamedScript(redis, 'runs/write', onError);
  const publishScript = loadScript(redis, 'runs/publish', onError);
  const takeOverScript = loadScript(redis, 'runs/take-over', onError);
  const stopScript = loadNamedScript(redis, 'runs/stop', onError);
  const readScript = loadScript(redis, 'client/read-hash', onError);
  // A run may wait for a person for as long as a question may stay open.
  const lifeMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1000;

  async function begin(run: NewRun, gone = ''): Promise<BeginResult> {
    const { before = [] } = run;
    const [eventName, eventJson] = eventArgs(run.event);
    const reply = (await beginScript({
      keys: {
        ...keysOf(run),
        conversations: conversationsKey(run),
        fence: fenceKey(run),
      },
      args: {
        streamRequestId: run.streamRequestId,
        owner: run.owner,
        agent: run.agent,
        conversationId: run.conversationId,
        input: JSON.stringify(run.input),
        eventName,
        eventJson,
        channel: channelName('stream', streamOf(run)),
        wakeJson: TURN_WAKE_TAIL,
        runLife: lifeMs,
        conversationLife: Math.max(lifeMs, settings.conversationTtlMs),
        gone,
        parent: run.parent === undefined ? '' : JSON.stringify(run.parent),
        delegateRequest: run.delegateRequest === undefined ? '' : JSON.stringify(run.delegateRequest),
        support: JSON.stringify(run.support),
        field: formatStreamPath(run),
        delivery: run.delivery ?? 'hold',
        asked: run.request?.digest ?? '',
        nonce: run.request?.nonce ?? '',
        // A large input is not sent twice.
        wholeInput: before.length === 0 ? '' : JSON.stringify([...before, ...run.input]),
        traceparent: run.traceparent ?? '',
        title: run.title ?? '',
        metered: run.support.unattended === true ? '' : 1,
        ...settings.chatQuotas,
        detachedOwner: DETACHED,
        unlisted: run.unlisted === undefined ? '' : 1,
      },
    })) as [number, ...unknown[]];
    const settled = parseBegin(reply);
    if (settled !== undefined) return settled;
    const streamRequestId = String(reply[1]);
    const key = runKey({ ...streamOf(run), streamRequestId });
    const [owner, term] = await orUnavailable(() => redis.hmget(key, 'owner', 'term'), onError);
    // The record of the running turn is gone, so nobody will end that turn.
    if (owner == null || term == null) return begin(run, streamRequestId);
    return { type: 'running', streamRequestId, owner, term: Number(term) };
  }

  async function write(run: RunRef, given: RunWrite): Promise<WriteResult> {
    const { notes = [], events, end, detach } = given;
    const { questions = [], runs: delegates = [], afterMs } = detach ?? {};
    const messages = end?.messages ?? [];
    return (await writeScript({
      keys: { ...keysOf(run), ...resumeKeys(run) },
      moreKeys: [
        ...questions.map(elicitationKey),
        ...delegates.map((streamRequestId) => runKey({ ...run, streamRequestId })),
        // Only a write that ends the run notes tasks, and only one that does not end it may detach it.
        ...(end === undefined
          ? []
          : [...followerKeys(run), tenantListKey('deliveries', run.tenant, bucketOf(run))]),
      ],
      args: {
        streamRequestId: run.streamRequestId,
        term: given.term,
        firstSeq: given.firstSeq,
        channel: channelName('stream', streamOf(run)),
        wakeJson: TURN_WAKE_TAIL,
        bytesMax: settings.turnBytesMax,
        runLife: lifeMs,
        endStatus: end?.status ?? '',
        retention: settings.retentionMs,
        conversationLife: settings.conversationTtlMs,
        messagesMax: settings.historyMessagesMax,
        historyBytesMax: settings.historyBytesMax,
        imageBytesMax: settings.historyImageBytesMax,
        noteCount: notes.length,
        eventCount: events.length,
        messageCount: messages.length,
        field: formatStreamPath(run),
        detachedOwner: detach === undefined ? '' : DETACHED,
        questionCount: questions.length,
        writeNumber: given.number ?? '',
        resumeTask: detach === undefined ? '' : resumeMember(run),
        resumeAfter: afterMs ?? '',
        tokensUsed: tokensOf(notes),
        tokensWindow: A_DAY_MS,
      },
      moreArgs: [
        ...notes.flatMap(fieldOf),
        ...events.flatMap(eventArgs),
        ...messages.map((message) => JSON.stringify({ ...message, turn: run.streamRequestId })),
      ],
    })) as WriteResult;
  }

  async function publish(run: RunRef, { term, writerSeq, ...text }: RunText) {
    const reply = await publishScript(
      [runKey(run)],
      [term, writerSeq, channelName('stream', streamOf(run)), encodeLiveTail(text)],
    );
    return reply as Awaited<ReturnType<Runs['publish']>>;
  }

  async function standing(stream: StreamRef): Promise<RunStanding | undefined> {
    return standingOf(await orUnavailable(() => redis.hmget(runKey(stream), ...STANDING_FIELDS), onError));
  }

  /** The standing of an indexed turn if one of `owners` has it. Removes a turn that is not running from the index. */
  async function readOwned(bucket: number, field: string, owners: ReadonlySet<string>) {
    const stream = parseStreamPath(field);
    const stands = stream === undefined ? undefined : await standing(stream);
    if (stream !== undefined && stands?.status === 'running')
      return owners.has(stands.owner) ? { stream, term: stands.term } : undefined;
    await orUnavailable(() => redis.hdel(runningKey(bucket), field), onError);
    return undefined;
  }

  async function* ownedBy(owners: ReadonlySet<string>) {
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
      for await (const [field, owner] of runningIn(bucket)) {
        const owned = owners.has(owner) ? await readOwned(bucket, field, owners) : undefined;
        if (owned !== undefined) yield owned;
      }
    }
  }

  /** The entries in a bucket's index of running turns. */
  async function* runningIn(bucket: number): AsyncGenerator<[field: string, owner: string]> {
    let cursor = '0';
    do {
      const scan = () => redis.hscan(runningKey(bucket), cursor, 'COUNT', SCAN_COUNT);
      const [next, entries] = await orUnavailable(scan, onError);
      cursor = next;
      for (let at = 0; at + 1 < entries.length; at += 2) yield [entries[at] ?? '', entries[at + 1] ?? ''];
    } while (cursor !== '0');
  }

  return {
    begin: withTokenRefusals((run) => begin(run)),
    standing,
    ownedBy,
    write,
    publish,
    async read(stream) {
      const [now, ...fields] = (await readScript([runKey(stream)], [])) as unknown[];
      return { run: runOf(stream, fields), now: Number(now) };
    },
    readWithFeed: createRunReader(redis, onError),
    heads: (streams) =>
      Promise.all(
        streams.map(async (stream) =>
          headOf(stream, await orUnavailable(() => redis.hmget(runKey(stream), ...HEAD_FIELDS), onError)),
        ),
      ),
    listOf: ({ tenant, userId }, limit) => listStoredRuns(redis, { tenant, userId }, limit, onError),
    stop: async (stream) => {
      const keys = { run: runKey(stream), watched: watchedKey(stream), ...resumeKeys(stream) };
      const task = { resumeTask: resumeMember(stream), field: formatStreamPath(stream) };
      const args = { detachedOwner: DETACHED, ...task };
      return Number(await stopScript({ keys, args })) === 1;
    },
    async takeOver(stream, term, owner) {
      const keys = [runKey(stream), runningKey(bucketOf(stream)), turnsKey(stream), watchedKey(stream)];
      const args = [term, owner, formatStreamPath(stream), lifeMs, settings.diedSoonMs, UNOWNED, DETACHED];
      const reply = Number(await takeOverScript(keys, args));
      return reply === 0 ? undefined : reply;
    },
  };
}

/** Parses the reply of begin.lua; undefined when another turn of the conversation is running. */
function parseBegin([code, ...rest]: readonly [number, ...unknown[]]): BeginResult | undefined {
  switch (code) {
    case 1:
      return { type: 'begun', term: Number(rest[0]), writerSeq: Number(rest[1]) };
    case 2:
      return { type: 'known', conversationId: String(rest[0]) };
    case 3:
      return { type: 'mismatch' };
    case 4: {
      const retryInMs = Math.max(0, Number(rest[1]));
      return { type: 'over-quota', of: 'user', quota: rest[0] as ChatQuota, retryInMs };
    }
    case 5:
      throw userErased(Number(rest[0]));
    default:
      return undefined;
  }
}

function keysOf(run: RunRef) {
  return {
    run: runKey(run),
    feed: feedKey(run),
    conversation: conversationKey(run),
    messages: messagesKey(run),
    running: runningKey(bucketOf(run)),
    usage: usageKey(run),
    usageEnds: usageEndsKey(run),
    turns: turnsKey(run),
    tokens: limitKey('tokens', run),
    listed: tenantListKey('turns', run.tenant, bucketOf(run)),
    watched: watchedKey(run),
  };
}

/** The keys of the outbox that resumes runs, and of the leases of its bucket. */
function resumeKeys(run: StreamRef) {
  return { resumptions: outboxKey(bucketOf(run), RESUME_RUN), tries: outboxTriesKey(bucketOf(run)) };
}

/** The outbox member that resumes a run, without the term, which the script adds. */
function resumeMember(run: StreamRef): string {
  const { version: _term, ...task } = resumeTask(run, 0);
  return memberOf(task);
}

function streamOf({ tenant, userId, streamRequestId }: StreamRef): StreamRef {
  return { tenant, userId, streamRequestId };
}

function eventArgs({ type, ...data }: TurnEvent): [name: string, json: string] {
  return [type, JSON.stringify(data)];
}
