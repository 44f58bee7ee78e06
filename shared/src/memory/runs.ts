import { TIMEOUT_SECONDS_MAX } from '../domain/elicitations/ask-input.ts';
import type { Wake } from '../domain/elicitations/wake.ts';
import { formatFeedPosition } from '../domain/events.ts';
import {
  type Asked,
  type CallRecord,
  type ConversationRef,
  DETACHED,
  type Message,
  type PauseRecord,
  type Run,
  type RunRef,
  UNOWNED,
} from '../domain/runs/run.ts';
import type { TurnEvent } from '../domain/runs/turn-events.ts';
import type { BackendSettings } from '../ports/backend.ts';
import type { Conversations, LastTurn } from '../ports/runs/conversations.ts';
import type { BeginResult, RunNote, Runs, RunWrite, WriteResult } from '../ports/runs/runs.ts';
import type { MemoryElicitations } from './elicitations.ts';
import type { InProcessEventBus } from './event-bus.ts';
import { createExpiringMap } from './expiring-map.ts';
import { type MemoryFeed, streamKey } from './feed.ts';

export interface MemoryRunsDeps {
  readonly feed: MemoryFeed;
  readonly wakes: InProcessEventBus<Wake>;
  readonly elicitations: Pick<MemoryElicitations, 'isOpen' | 'onEnd'>;
  readonly settings: BackendSettings;
}

interface Held {
  run: Run;
  readonly asked: Asked | undefined;
  bytes: number;
  /** Number of the last write under the current term. */
  writes: number;
  stopping: boolean;
  wasDetached: boolean;
}

type Detaching = NonNullable<RunWrite['detach']>;

interface Talk {
  running?: string;
  last?: LastTurn;
  messages: Message[];
}

/** Turns and conversations in one process. One turn of the event loop is the atomic step that a script is on Redis. */
export function createMemoryRuns(deps: MemoryRunsDeps): { runs: Runs; conversations: Conversations } {
  const { settings } = deps;
  const lifeMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1000;
  const runs = createExpiringMap<Held>();
  const talks = createExpiringMap<Talk>();

  function tell(run: RunRef, events: readonly TurnEvent[], now: number, ttlMs: number): void {
    const { tenant, userId, streamRequestId } = run;
    const positions = events.map((event) => deps.feed.append(run, structuredClone(event), now, ttlMs));
    const last = positions.at(-1);
    if (last === undefined) return;
    const wake = { position: formatFeedPosition(last), at: now, turn: true } as const;
    deps.wakes.announce({ tenant, userId, streamRequestId }, wake);
  }

  /** A conversation stays at least as long as the turn that runs in it. */
  function keepTalk(run: RunRef, talk: Talk | undefined, now: number): void {
    if (talk !== undefined) talks.set(talkKey(run), talk, now + Math.max(lifeMs, settings.conversationTtlMs));
  }

  /** Frees the run's conversation and adds to its history. */
  function leave(run: Run, said: readonly Message[], wasDetached: boolean): void {
    const { running, messages } = talks.get(talkKey(run)) ?? { messages: [] };
    const last = { streamRequestId: run.streamRequestId, wasDetached };
    const talk: Talk = {
      last,
      ...(running !== undefined && running !== run.streamRequestId && { running }),
      messages: [...messages, ...structuredClone(said)].slice(-settings.historyMessagesMax),
    };
    // A delegate's conversation is nobody's to go on with.
    const ttlMs = run.parent === undefined ? settings.conversationTtlMs : settings.retentionMs;
    talks.set(talkKey(run), talk, Date.now() + ttlMs);
  }

  function refusal(held: Held, { end, detach }: RunWrite, bytes: number): WriteResult | undefined {
    if (detach !== undefined) return mayDetach(held, detach) ? undefined : 'wait-ended';
    return bytes > settings.turnBytesMax && end === undefined ? 'full' : undefined;
  }

  function nextOf(run: Run, write: RunWrite, now: number): Run {
    const { notes = [], end, detach } = write;
    const writerSeq = Math.max(run.writerSeq, lastSeqOf(write));
    const noted = notes.reduce(withNote, { ...run, writerSeq });
    if (detach !== undefined) return detached(noted, detach);
    return end === undefined ? noted : { ...noted, status: end.status, endedAt: now };
  }

  function mayDetach({ run, stopping }: Held, { questions, runs: delegates }: Detaching): boolean {
    const isDetached = (streamRequestId: string) =>
      runs.get(streamKey({ ...run, streamRequestId }))?.run.owner === DETACHED;
    return !stopping && questions.every(deps.elicitations.isOpen) && delegates.every(isDetached);
  }

  function detached(run: Run, { questions }: Detaching): Run {
    const { tenant, userId, streamRequestId } = run;
    const term = run.term + 1;
    const task = { kind: 'wake', stream: { tenant, userId, streamRequestId }, term } as const;
    for (const id of questions) deps.elicitations.onEnd(id, task);
    return { ...run, owner: DETACHED, term };
  }

  return {
    conversations: {
      async read(conversation) {
        const { running, last, messages = [] } = talks.get(talkKey(conversation)) ?? {};
        return {
          ...(running !== undefined && { running }),
          ...(last !== undefined && { last }),
          messages: structuredClone(messages),
        };
      },
    },
    runs: {
      async begin({ event, asked, before = [], ...given }) {
        const now = Date.now();
        const earlier = begunBefore(runs.get(streamKey(given)), given.owner, asked);
        if (earlier !== undefined) return earlier;
        const talk = talks.get(talkKey(given)) ?? { messages: [] };
        const other =
          talk.running === undefined
            ? undefined
            : runs.get(streamKey({ ...given, streamRequestId: talk.running }))?.run;
        if (other !== undefined) {
          const { streamRequestId, owner, term } = other;
          return { type: 'running', streamRequestId, owner, term };
        }
        const run: Run = {
          ...structuredClone(given),
          input: structuredClone(talk.messages.length > 0 ? given.input : [...before, ...given.input]),
          delivery: given.delivery ?? 'hold',
          status: 'running',
          term: 1,
          takeoverCount: 0,
          writerSeq: 1,
          startedAt: now,
          steps: [],
          calls: [],
          pauses: [],
        };
        runs.set(
          streamKey(run),
          { run, asked, bytes: bytesOf([event]), writes: 0, stopping: false, wasDetached: false },
          now + lifeMs,
        );
        keepTalk(run, { ...talk, running: run.streamRequestId }, now);
        tell(run, [event], now, lifeMs);
        return { type: 'begun', term: 1, writerSeq: 1 };
      },

      async standing(stream) {
        const run = runs.get(streamKey(stream))?.run;
        if (run === undefined) return undefined;
        const { conversationId, status, owner, term, takeoverCount, parent } = run;
        return {
          conversationId,
          status,
          owner,
          term,
          takeoverCount,
          ...(parent !== undefined && { parent }),
        };
      },

      async *ownedBy(owners) {
        for (const { run } of runs.values()) {
          if (run.status !== 'running' || run.owner === DETACHED || !owners.has(run.owner)) continue;
          const { tenant, userId, streamRequestId, term } = run;
          yield { stream: { tenant, userId, streamRequestId }, term };
        }
      },

      async read(stream) {
        return { run: structuredClone(runs.get(streamKey(stream))?.run), now: Date.now() };
      },

      async write(ref, write) {
        const now = Date.now();
        const held = runs.get(streamKey(ref));
        if (held === undefined) return 'gone';
        const { run } = held;
        const { events, end } = write;
        const fresh = events.slice(Math.max(0, run.writerSeq - write.firstSeq + 1));
        const bytes = held.bytes + bytesOf(fresh);
        const settled = standing(held, write) ?? refusal(held, write, bytes);
        if (settled !== undefined) return settled;
        const next = nextOf(run, write, now);
        const ttlMs = end === undefined ? lifeMs : settings.retentionMs;
        const wasDetached = held.wasDetached || write.detach !== undefined;
        const writes = writesAfter(held, write);
        runs.set(streamKey(run), { ...held, run: next, bytes, writes, wasDetached }, now + ttlMs);
        if (end !== undefined) leave(run, end.messages, held.wasDetached);
        if (write.detach !== undefined) keepTalk(run, talks.get(talkKey(run)), now);
        tell(run, fresh, now, ttlMs);
        if (end !== undefined) deps.feed.leaveAt(run, now + ttlMs);
        return held.stopping && end === undefined ? 'stopping' : 'written';
      },

      async stop(stream) {
        const held = runs.get(streamKey(stream));
        if (held?.run.status !== 'running') return false;
        held.stopping = true;
        return true;
      },

      async takeOver(stream, term, owner) {
        const held = runs.get(streamKey(stream));
        if (held?.run.status !== 'running') return undefined;
        if (held.run.term === term + 1 && held.run.owner === owner) return held.run.term;
        if (held.run.term !== term) return undefined;
        const isLapse = ![held.run.owner, owner].some((one) => one === UNOWNED || one === DETACHED);
        const takeoverCount = held.run.takeoverCount + (isLapse ? 1 : 0);
        held.run = { ...held.run, term: term + 1, owner, takeoverCount };
        held.writes = 0;
        return term + 1;
      },
    },
  };
}

/** What a call to begin a run is told of it, where it is there already and that is the answer. */
function begunBefore(
  held: Held | undefined,
  owner: string,
  asked: Asked | undefined,
): BeginResult | undefined {
  if (held === undefined) return undefined;
  const { run } = held;
  if (run.owner === owner && run.status === 'running' && held.asked?.nonce === asked?.nonce)
    return { type: 'begun', term: run.term, writerSeq: run.writerSeq };
  return held.asked?.digest === asked?.digest
    ? { type: 'known', conversationId: run.conversationId }
    : { type: 'mismatch' };
}

/** How a run stands towards a write that it will not take; nothing when it will. */
function standing({ run, writes }: Held, write: RunWrite): WriteResult | undefined {
  if (run.term !== write.term) return 'fenced';
  if (run.status === 'running')
    return write.number !== undefined && writes > write.number ? 'written' : undefined;
  return run.status === write.end?.status && run.writerSeq >= lastSeqOf(write) ? 'written' : 'fenced';
}

/** A write of nothing changes nothing, however late it comes. */
function writesAfter({ writes }: Held, { number = writes, events, notes = [] }: RunWrite): number {
  return events.length + notes.length > 0 ? number : writes;
}

function lastSeqOf({ firstSeq, events }: RunWrite): number {
  return firstSeq + events.length - 1;
}

function withNote(run: Run, given: RunNote): Run {
  const note = structuredClone(given);
  switch (note.type) {
    case 'step': {
      const steps = [...run.steps];
      steps[note.index] = note.step;
      return { ...run, steps };
    }
    case 'call':
      return { ...run, calls: replaced(run.calls, note.call, sameCall) };
    case 'pause':
      return { ...run, pauses: replaced(run.pauses, note.pause, samePause) };
  }
}

function sameCall(a: CallRecord, b: CallRecord): boolean {
  return a.toolCallId === b.toolCallId;
}

function samePause(a: PauseRecord, b: PauseRecord): boolean {
  return a.elicitationId === b.elicitationId;
}

function replaced<T>(all: readonly T[], one: T, same: (a: T, b: T) => boolean): T[] {
  return all.some((other) => same(other, one))
    ? all.map((other) => (same(other, one) ? one : other))
    : [...all, one];
}

function bytesOf(events: readonly TurnEvent[]): number {
  return events.reduce((sum, { type: _type, ...data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0);
}

function talkKey({ tenant, userId, conversationId }: ConversationRef): string {
  return JSON.stringify([tenant, userId, conversationId]);
}
