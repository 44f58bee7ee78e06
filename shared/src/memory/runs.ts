import { TIMEOUT_SECONDS_MAX } from '../domain/ask-input.ts';
import { formatFeedPosition } from '../domain/events.ts';
import type { CallRecord, ConversationRef, Message, PauseRecord, Run, RunRef } from '../domain/run.ts';
import type { TurnEvent } from '../domain/turn-events.ts';
import type { Wake } from '../domain/wake.ts';
import type { BackendSettings } from '../ports/backend.ts';
import type { Conversations } from '../ports/conversations.ts';
import type { RunNote, Runs, RunWrite, WriteResult } from '../ports/runs.ts';
import type { InProcessEventBus } from './event-bus.ts';
import { createExpiringMap } from './expiring-map.ts';
import { type MemoryFeed, streamKey } from './feed.ts';

export interface MemoryRunsDeps {
  readonly feed: MemoryFeed;
  readonly wakes: InProcessEventBus<Wake>;
  readonly settings: BackendSettings;
}

interface Held {
  run: Run;
  bytes: number;
  stopping: boolean;
}

interface Talk {
  running?: string;
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

  /** Frees the run's conversation and adds to its history. */
  function leave(run: RunRef, said: readonly Message[]): void {
    const { running, messages } = talks.get(talkKey(run)) ?? { messages: [] };
    const talk: Talk = {
      ...(running !== undefined && running !== run.streamRequestId && { running }),
      messages: [...messages, ...structuredClone(said)].slice(-settings.historyMessagesMax),
    };
    talks.set(talkKey(run), talk, Date.now() + settings.conversationTtlMs);
  }

  return {
    conversations: {
      async read(conversation) {
        const { running, messages = [] } = talks.get(talkKey(conversation)) ?? {};
        return { ...(running !== undefined && { running }), messages: structuredClone(messages) };
      },
    },
    runs: {
      async begin({ event, ...given }) {
        const now = Date.now();
        const known = runs.get(streamKey(given))?.run;
        if (known?.owner === given.owner && known.status === 'running')
          return { type: 'begun', term: known.term, writerSeq: known.writerSeq };
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
          status: 'running',
          term: 1,
          writerSeq: 1,
          startedAt: now,
          steps: [],
          calls: [],
          pauses: [],
        };
        runs.set(streamKey(run), { run, bytes: bytesOf([event]), stopping: false }, now + lifeMs);
        talks.set(talkKey(run), { ...talk, running: run.streamRequestId }, now + settings.conversationTtlMs);
        tell(run, [event], now, lifeMs);
        return { type: 'begun', term: 1, writerSeq: 1 };
      },

      async standing(stream) {
        const run = runs.get(streamKey(stream))?.run;
        if (run === undefined) return undefined;
        const { conversationId, status, owner, term } = run;
        return { conversationId, status, owner, term };
      },

      async *ownedBy(owners) {
        for (const { run } of runs.values()) {
          if (run.status !== 'running' || !owners.has(run.owner)) continue;
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
        const { events, notes = [], end } = write;
        const settled = standing(run, write);
        if (settled !== undefined) return settled;
        const fresh = events.slice(Math.max(0, run.writerSeq - write.firstSeq + 1));
        const bytes = held.bytes + bytesOf(fresh);
        if (bytes > settings.turnBytesMax && end === undefined) return 'full';
        const noted = notes.reduce(withNote, {
          ...run,
          writerSeq: Math.max(run.writerSeq, lastSeqOf(write)),
        });
        const next: Run = end === undefined ? noted : { ...noted, status: end.status, endedAt: now };
        const ttlMs = end === undefined ? lifeMs : settings.retentionMs;
        runs.set(streamKey(run), { ...held, run: next, bytes }, now + ttlMs);
        if (end !== undefined) leave(run, end.messages);
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
        held.run = { ...held.run, term: term + 1, owner };
        return term + 1;
      },
    },
  };
}

/** How a run stands towards a write that it will not take; nothing when it will. */
function standing(run: Run, write: RunWrite): WriteResult | undefined {
  if (run.term !== write.term) return 'fenced';
  if (run.status === 'running') return undefined;
  return run.status === write.end?.status && run.writerSeq >= lastSeqOf(write) ? 'written' : 'fenced';
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
    case 'input':
      return { ...run, input: note.messages };
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
