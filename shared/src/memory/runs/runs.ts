/** The port of runs in one process. It applies the decisions of `domain/runs/transition.ts` and holds no rules itself. */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { formatFeedPosition } from '@parley/core/domain/events';
import { bucketOf, formatStreamPath, type Owner, type StreamRef } from '@parley/core/domain/ids';
import type { TurnWake, Wake } from '../../domain/elicitations/wake.ts';
import type { RunningTurn } from '../../domain/runs/commands.ts';
import { type ConversationRef, DETACHED, type Run, type RunRef } from '../../domain/runs/run.ts';
import { stateOf, transitionRun } from '../../domain/runs/transition.ts';
import type { TurnEvent } from '../../domain/runs/turn-events.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { Conversations } from '../../ports/runs/conversations.ts';
import { resumeTask } from '../../ports/runs/resume-task.ts';
import {
  type NewRun,
  type Runs,
  type RunText,
  type RunWrite,
  tokensOf,
  type WriteResult,
} from '../../ports/runs/runs.ts';
import type { ChangeWord } from '../../ports/tenant-changes.ts';
import type { MemoryElicitations } from '../elicitations/elicitations.ts';
import type { InProcessEventBus } from '../event-bus.ts';
import { createExpiringMap } from '../expiring-map.ts';
import { type MemoryFeed, streamKey } from '../feed.ts';
import type { MemoryFence } from '../fence.ts';
import type { MemoryOutbox } from '../outbox/outbox.ts';
import type { MemorySubscriptions } from '../outbox/subscriptions.ts';
import { ownerKey } from '../owner-key.ts';
import type { MemoryTenantChanges } from '../tenant-changes.ts';
import { beginCommand, takeOverCommand, writeCommand } from './commands.ts';
import { createMemoryConversations, kindOf } from './conversations.ts';
import {
  headOf,
  newRecord,
  refOf,
  runOf,
  type StoredRun,
  standingOf,
  withNote,
  withOwner,
} from './record.ts';
import { createMemoryUsage, storedBytesOf } from './usage.ts';

interface MemoryRunsDeps {
  readonly feed: MemoryFeed;
  readonly wakes: InProcessEventBus<Wake>;
  readonly elicitations: Pick<MemoryElicitations, 'isOpen' | 'onEnd'>;
  readonly outbox: Pick<MemoryOutbox, 'note'>;
  readonly subscriptions: Pick<MemorySubscriptions, 'kindsOf'>;
  readonly fence: Pick<MemoryFence, 'check'>;
  readonly tenantChanges: Pick<MemoryTenantChanges, 'announce'>;
  readonly settings: BackendSettings;
}

/** What erasures need to know of stored turns. */
export interface StoredTurns {
  /** The turns of every owner. */
  all(): readonly (StreamRef & Pick<Run, 'startedAt' | 'endedAt'>)[];
  /** The stream requests of an owner's turns. */
  idsOf(owner: Owner): string[];
  conversationIdsOf(owner: Owner): string[];
  remove(stream: StreamRef): void;
  removeConversation(conversation: ConversationRef): void;
  removeCounters(owner: Owner): void;
}

type WaitChecks = NonNullable<RunWrite['detach']>;

/** Turns and conversations in one process. A synchronous function is the atomic step here, as a script is on Redis. */
export function createMemoryRuns(deps: MemoryRunsDeps): {
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly stored: StoredTurns;
} {
  const { settings } = deps;
  const lifeMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1000;
  const runs = createExpiringMap<StoredRun>();
  const conversations = createMemoryConversations(settings, lifeMs);
  const usage = createMemoryUsage({ quotas: settings.chatQuotas, runs: runs.values, conversations });

  function append(stored: StoredRun, events: readonly TurnEvent[], now: number, ttlMs: number): void {
    const run = refOf(stored);
    const positions = events.map((event) => deps.feed.append(run, structuredClone(event), now, ttlMs));
    const last = positions.at(-1);
    if (last === undefined) return;
    stored.position = formatFeedPosition(last);
    announce(stored, { at: now });
  }

  function announce(stored: StoredRun, wake: Pick<TurnWake, 'at' | 'live'>): void {
    const { tenant, userId, streamRequestId } = refOf(stored);
    const { position } = stored;
    deps.wakes.announce({ tenant, userId, streamRequestId }, { position, turn: true, ...wake });
  }

  function tell({ tenant, userId, streamRequestId }: StreamRef, change: ChangeWord): void {
    deps.tenantChanges.announce({ kind: 'turn', id: streamRequestId, tenant, userId, change });
  }

  function runningTurn(run: NewRun): RunningTurn | undefined {
    const streamRequestId = conversations.running(run);
    if (streamRequestId === undefined) return undefined;
    const other = runs.get(streamKey({ ...run, streamRequestId }));
    return other && { streamRequestId, owner: other.control.owner, term: other.control.term };
  }

  function hasEnded(run: RunRef, { questions, runs: delegates }: WaitChecks): boolean {
    const isDetached = (streamRequestId: string) =>
      runs.get(streamKey({ ...run, streamRequestId }))?.control.owner === DETACHED;
    return !questions.every(deps.elicitations.isOpen) || !delegates.every(isDetached);
  }

  async function begin(given: NewRun): ReturnType<Runs['begin']> {
    const stored = runs.get(streamKey(given));
    if (stored === undefined) deps.fence.check(given);
    const command = beginCommand(given, runningTurn(given), usage.reached(given));
    const { result, change } = transitionRun(stored?.control, command);
    if (change !== undefined) {
      const now = Date.now();
      const record = newRecord(given, conversations.hasHistory(given), now);
      const begun = { control: change.control, record };
      const stored = { ...begun, position: '', storedBytes: storedBytesOf(begun) };
      runs.set(streamKey(given), stored, now + lifeMs);
      conversations.begin(given, now);
      append(stored, [given.event], now, lifeMs);
      tell(given, 'began');
    }
    return result;
  }

  async function write(ref: RunRef, given: RunWrite): Promise<WriteResult> {
    const stored = runs.get(streamKey(ref));
    const waitEnded = given.detach !== undefined && hasEnded(ref, given.detach);
    const command = writeCommand(given, { bytesMax: settings.turnBytesMax, waitEnded });
    const { result, change } = transitionRun(stored?.control, command);
    if (stored === undefined || change === undefined) return result;
    const now = Date.now();
    const run = refOf(stored);
    const ttlMs = command.type === 'end' ? settings.retentionMs : lifeMs;
    const isRepeat = given.number !== undefined && given.number === stored.control.writes;
    stored.control = change.control;
    const stamp = { at: now, term: given.term };
    for (const note of given.notes ?? []) stored.record = withNote(stored.record, note, stamp);
    if (!isRepeat) usage.spend(stored.record, tokensOf(given.notes ?? []));
    if (command.type !== 'write') stored.storedBytes = storedBytesOf(stored);
    runs.set(streamKey(run), stored, now + ttlMs);
    if (command.type === 'detach') applyDetach(stored, given.detach, now);
    if (command.type === 'end') applyEnd(stored, given.end, now);
    append(stored, given.events.slice(change.firstNew), now, ttlMs);
    return result;
  }

  /** An empty write changes nothing, but its result tells whether the caller still owns the run. */
  async function publish(run: RunRef, { term, writerSeq, ...live }: RunText) {
    const stored = runs.get(streamKey(run));
    const empty = writeCommand({ term, firstSeq: 1, events: [] }, { bytesMax: Infinity, waitEnded: false });
    const { result } = transitionRun(stored?.control, empty);
    const isLast = stored?.control.writerSeq === writerSeq;
    if (stored !== undefined && isLast && (result === 'written' || result === 'stopping'))
      announce(stored, { at: Date.now(), live });
    return result as Awaited<ReturnType<Runs['publish']>>;
  }

  function applyDetach(stored: StoredRun, detach: RunWrite['detach'], now: number): void {
    const restsUntil = detach?.afterMs === undefined ? undefined : now + detach.afterMs;
    stored.record = { ...withOwner(stored.record, stored.control, now), restsUntil };
    const { conversationId, ...stream } = refOf(stored);
    const task = resumeTask(stream, stored.control.term);
    for (const id of detach?.questions ?? []) deps.elicitations.onEnd(id, task);
    if (detach?.afterMs !== undefined) deps.outbox.note(task, { afterMs: detach.afterMs });
    conversations.keep({ ...stream, conversationId });
    tell(stream, 'changed');
  }

  function applyEnd(stored: StoredRun, end: RunWrite['end'], now: number): void {
    const { wasDetached, parent } = stored.control;
    const run = refOf(stored);
    stored.record = { ...stored.record, endedAt: now };
    conversations.end(run, {
      wasDetached,
      kind: kindOf({ parent, unlisted: stored.record.unlisted }),
      traceparent: stored.record.traceparent,
      messages: end?.messages ?? [],
    });
    deps.feed.expireAt(run, now + settings.retentionMs);
    for (const kind of deps.subscriptions.kindsOf(run))
      deps.outbox.note(
        { kind, subject: formatStreamPath(run), bucket: bucketOf(run) },
        { tenant: run.tenant },
      );
    tell(run, 'ended');
  }

  return {
    conversations: {
      read: conversations.read,
      list: conversations.list,
      usage: async (owner) => usage.of(owner),
      rename: conversations.rename,
    },
    stored: {
      all: () => runs.values().map(({ record }) => record),
      idsOf: (owner) =>
        runs
          .values()
          .flatMap(({ record }) => (ownerKey(record) === ownerKey(owner) ? [record.streamRequestId] : [])),
      conversationIdsOf: conversations.idsOf,
      remove(stream) {
        const stored = runs.get(streamKey(stream));
        // No list contains the conversation of a delegate, so it is removed with its run.
        if (stored?.control.parent !== undefined) conversations.remove(refOf(stored));
        runs.delete(streamKey(stream));
      },
      removeConversation: conversations.remove,
      removeCounters: usage.remove,
    },
    runs: {
      begin,
      write,
      publish,
      async standing(stream) {
        const stored = runs.get(streamKey(stream));
        return stored && standingOf(stored);
      },
      async read(stream) {
        const stored = runs.get(streamKey(stream));
        return { run: stored && runOf(stored), now: Date.now() };
      },
      async readWithFeed(stream, eventsMax) {
        const stored = runs.get(streamKey(stream));
        const page = await deps.feed.read(stream, undefined, eventsMax);
        const entries = page.type === 'entries' ? page.entries : [];
        const isWhole = entries.length < eventsMax;
        return {
          run: stored && runOf(stored),
          feed: { entries, isWhole, records: new Map(), now: Date.now() },
        };
      },
      async heads(streams) {
        return streams.map((stream) => {
          const stored = runs.get(streamKey(stream));
          return stored && headOf(stored);
        });
      },
      async listOf(owner, limit) {
        const own = runs
          .values()
          .filter(({ record }) => ownerKey(record) === ownerKey(owner) && record.support.unattended !== true);
        const endOf = ({ record }: StoredRun) => record.endedAt ?? Number.POSITIVE_INFINITY;
        own.sort((a, b) =>
          endOf(a) === endOf(b) ? b.record.startedAt - a.record.startedAt : endOf(b) - endOf(a),
        );
        return own.slice(0, limit).map(({ record }) => record.streamRequestId);
      },
      async *ownedBy(owners) {
        for (const stored of runs.values()) {
          const { term, owner } = stored.control;
          const state = stateOf(stored.control);
          if (!owners.has(owner) || (state !== 'owned' && state !== 'queued')) continue;
          const { tenant, userId, streamRequestId } = stored.record;
          yield { stream: { tenant, userId, streamRequestId }, term };
        }
      },
      async stop(stream) {
        const stored = runs.get(streamKey(stream));
        const { result, change } = transitionRun(stored?.control, { type: 'stop' });
        if (stored !== undefined && change !== undefined) stored.control = change.control;
        const { owner, term } = stored?.control ?? {};
        if (result === 'stopping' && owner === DETACHED && term !== undefined)
          deps.outbox.note(resumeTask(stream, term));
        if (result === 'stopping') tell(stream, 'changed');
        return result === 'stopping';
      },
      async takeOver(stream, term, owner) {
        const stored = runs.get(streamKey(stream));
        const now = Date.now();
        const since = stored?.record.times.owners.at(-1)?.since ?? now;
        const diedSoon = now - since < settings.diedSoonMs;
        const steps = stored?.record.steps.length ?? 0;
        const command = takeOverCommand(term, owner, { diedSoon, steps });
        const { result, change } = transitionRun(stored?.control, command);
        if (stored !== undefined && change !== undefined) {
          stored.control = change.control;
          stored.record = withOwner(stored.record, change.control, now);
          tell(stream, 'changed');
        }
        return typeof result === 'object' ? result.term : undefined;
      },
    },
  };
}
