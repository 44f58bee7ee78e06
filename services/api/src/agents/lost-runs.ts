import { randomUUID } from 'node:crypto';
import { isParleyError } from '@parley/shared/domain/errors';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { Message, Run } from '@parley/shared/domain/run';
import type { Engine } from '@parley/shared/engine/engine';
import type { Runs } from '@parley/shared/ports/runs';
import { withdrawAsked, withdrawLeft } from './leftovers.ts';
import { INTERRUPTED } from './run-end.ts';

const LOOKS_AT_ONCE = 50;

export interface LostRunsDeps {
  readonly engine: Pick<Engine, 'list' | 'withdraw'>;
  readonly runs: Runs;
  readonly pod: string;
  /** This pod as an owner of runs; what it owns and does not work on is lost. */
  readonly owner: string;
  readonly isHere: (streamRequestId: string) => boolean;
  readonly isDead: (owner: string) => Promise<boolean>;
  readonly onFault: (error: unknown, stream: StreamRef) => void;
}

/** Runs that nobody works on any more: they are ended, so that they stand in nobody's way and their readers hear it. */
export interface LostRuns {
  /** Ends the run if it is lost; whether it runs now, and whether it was lost. Throws `unavailable`. */
  look(stream: StreamRef): Promise<'running' | 'ended' | 'lost'>;
  /** Remembers a run of this pod that may have been left behind, until it has been looked at. */
  owe(stream: StreamRef): void;
  /** Keeps an eye on a run while somebody reads it, and gives back how to stop that. */
  attend(stream: StreamRef): () => void;
  /** Looks at what is owed and attended. */
  lookAround(): Promise<void>;
}

interface Attended {
  readonly stream: StreamRef;
  readers: number;
  /** Known from the first look on: from then on a run changes hands only to be ended. */
  owner?: string;
}

/** Makes the eye that a pod keeps on runs. */
export function createLostRuns(deps: LostRunsDeps): LostRuns {
  const { runs, owner: self, isHere } = deps;
  const endRun = createEndRun(deps);
  const owed = new Map<string, StreamRef>();
  const attended = new Map<string, Attended>();
  let looking = false;

  async function look(stream: StreamRef): Promise<'running' | 'ended' | 'lost'> {
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return 'ended';
    const { owner, term } = standing;
    const isLost = owner === self ? !isHere(stream.streamRequestId) : await deps.isDead(owner);
    if (!isLost) return 'running';
    await endRun(stream, term);
    return 'lost';
  }

  async function pay(stream: StreamRef): Promise<void> {
    await look(stream);
    owed.delete(stream.streamRequestId);
  }

  /** Costs one look at each run that is new, one at each pod, and one at each run that may be lost. */
  async function visit(entry: Attended, isDead: (owner: string) => Promise<boolean>): Promise<void> {
    const { stream, owner } = entry;
    if (isHere(stream.streamRequestId)) return;
    if (owner === undefined) {
      const standing = await runs.standing(stream);
      if (standing?.status === 'running') entry.owner = standing.owner;
      return;
    }
    if (owner === self || (await isDead(owner))) await look(stream);
  }

  /** An outage is no news; the next look comes. */
  const noting = (stream: StreamRef) => (error: unknown) => {
    if (!isParleyError(error, 'unavailable')) deps.onFault(error, stream);
  };

  return {
    look,
    owe(stream) {
      owed.set(stream.streamRequestId, stream);
      pay(stream).catch(noting(stream));
    },
    attend(stream) {
      const { streamRequestId } = stream;
      const entry = attended.get(streamRequestId) ?? { stream, readers: 0 };
      entry.readers += 1;
      attended.set(streamRequestId, entry);
      return () => {
        entry.readers -= 1;
        if (entry.readers === 0) attended.delete(streamRequestId);
      };
    },
    async lookAround() {
      if (looking) return;
      looking = true;
      const heard = new Map<string, Promise<boolean>>();
      const isDead = (owner: string) => {
        const known = heard.get(owner) ?? deps.isDead(owner);
        heard.set(owner, known);
        return known;
      };
      try {
        await atOnce([...owed.values()], (stream) => pay(stream).catch(noting(stream)));
        await atOnce([...attended.values()], (entry) => visit(entry, isDead).catch(noting(entry.stream)));
      } finally {
        looking = false;
      }
    },
  };
}

/** Ends a run in place of its owner, with all that it delegated and all that it asked. */
function createEndRun({ engine, runs, pod }: LostRunsDeps) {
  // An owner that never beats: what it begins to end and does not, the next one ends.
  const undertaker = `${pod}/ending/${randomUUID()}`;

  async function endRun(stream: StreamRef, seen: number): Promise<void> {
    const term = await runs.takeOver(stream, seen, undertaker);
    if (term === undefined) return;
    const { run } = await runs.read(stream);
    if (run === undefined) return;
    await endDelegates(run);
    // What a delegate asks lies on the stream of the turn that it works for, with what others ask.
    if (run.parent === undefined) await withdrawLeft(engine, run, run.streamRequestId);
    else await withdrawAsked(engine, run);
    await runs.write(run, {
      term,
      firstSeq: run.writerSeq + 1,
      events: [{ type: 'turn-failed', ...INTERRUPTED }],
      end: { status: 'failed', messages: run.parent === undefined ? saidIn(run) : [] },
    });
  }

  async function endDelegates({ tenant, userId, calls }: Run): Promise<void> {
    for (const { run: streamRequestId } of calls) {
      if (streamRequestId === undefined) continue;
      const stream = { tenant, userId, streamRequestId };
      const standing = await runs.standing(stream);
      if (standing?.status === 'running') await endRun(stream, standing.term);
    }
  }

  return endRun;
}

async function atOnce<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += LOOKS_AT_ONCE) {
    await Promise.all(all.slice(from, from + LOOKS_AT_ONCE).map(run));
  }
}

/** What the conversation remembers of a lost run: the steps that were whole, for their tools may have done something. */
function saidIn({ input, steps }: Run): Message[] {
  const open = steps.findIndex(({ finishReason, messages }) => {
    return finishReason === 'tool-calls' && messages.at(-1)?.role !== 'tool';
  });
  const whole = open < 0 ? steps : steps.slice(0, open);
  return [...input, ...whole.flatMap(({ messages }) => messages)];
}
