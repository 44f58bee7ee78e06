import { isParleyError } from '@parley/shared/domain/errors';
import type { StreamRef } from '@parley/shared/domain/ids';
import { DETACHED, type Run, type RunStanding, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { INTERRUPTED } from '@parley/shared/runs/interruption';
import { checkpointOf } from '../loop/checkpoint.ts';
import { wakeIfForgotten } from './missed-wakeup.ts';
import { withdrawAsked, withdrawLeft } from './open-questions.ts';

const LOOKS_AT_ONCE = 50;
const LATE_MS = 60_000;
// What is detached is woken by its answer; this is for the answer whose wake was lost, and the owner that let go.
const LOOK_AGAIN_MS = 30_000;

export interface LostRunsDeps {
  readonly engine: Pick<Engine, 'list' | 'read' | 'withdraw'>;
  readonly runs: Runs;
  readonly runQueue: Pick<RunQueue, 'offer'>;
  /** This pod as an owner of runs; what it owns and does not work on is lost. */
  readonly owner: string;
  readonly isHere: (streamRequestId: string) => boolean;
  readonly isDead: (owner: string) => Promise<boolean>;
  readonly onFault: (error: unknown, stream: StreamRef) => void;
}

/** Runs that nobody works on any more: they are offered to all pods, so that one of them goes on. */
export interface LostRuns {
  /** Offers the run if it is lost; true while it runs. Throws `unavailable`. */
  look(stream: StreamRef): Promise<boolean>;
  /** True for a run that nobody can be working on. Throws `unavailable`. */
  isLost(stream: StreamRef, standing: RunStanding): Promise<boolean>;
  /** True for a detached run that waits; one that only should go on is woken. Throws `unavailable`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Ends a run in place of its owner, as interrupted: one that no pod can go on with. */
  end(stream: StreamRef, standing: RunStanding): Promise<void>;
  /**
   * Remembers a run of this pod that nobody works on, until it is ended, or (`go-on`) offered to all pods. It may only
   * come to be within the next minute: Redis may do late what this pod was not told the outcome of.
   */
  owe(stream: StreamRef, term: number, what: Owed): void;
  /** Keeps an eye on a run while somebody reads it, and gives back how to stop that. */
  attend(stream: StreamRef): () => void;
  /** Looks at what is owed and attended. */
  lookAround(): Promise<void>;
}

/** What a pod has still to do about a run that it does not work on. */
export type Owed = 'end' | 'go-on';

interface Debt {
  readonly stream: StreamRef;
  readonly term: number;
  readonly what: Owed;
  readonly since: number;
}

interface Attended {
  readonly stream: StreamRef;
  readers: number;
  /** As of the last look. */
  owner?: string;
  lookedAt: number;
}

/** Makes the eye that a pod keeps on runs. */
export function createLostRuns(deps: LostRunsDeps): LostRuns {
  const { runs, owner: self, isHere } = deps;
  const end = createEndRun(deps);
  const owed = new Map<string, Debt>();
  const attended = new Map<string, Attended>();
  let looking = false;

  async function isLost({ streamRequestId }: StreamRef, { owner }: RunStanding): Promise<boolean> {
    if (owner === UNOWNED) return true;
    if (owner === DETACHED) return false;
    return owner === self ? !isHere(streamRequestId) : deps.isDead(owner);
  }

  async function offer(stream: StreamRef, { owner, term }: RunStanding): Promise<void> {
    // As this pod's it would be left to this pod by all others, for it lives.
    const offered = owner === self ? await runs.takeOver(stream, term, UNOWNED) : term;
    if (offered !== undefined) await deps.runQueue.offer(stream, offered);
  }

  async function look(stream: StreamRef): Promise<boolean> {
    const debt = owed.get(stream.streamRequestId);
    // Whoever asked for it was told that it failed.
    if (debt?.what === 'end') await pay(debt);
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return false;
    if (standing.owner === DETACHED) await wakeIfForgotten(deps, stream, standing.term);
    else if (await isLost(stream, standing)) await offer(stream, standing);
    return true;
  }

  async function pay({ stream, term, what, since }: Debt): Promise<void> {
    if (isHere(stream.streamRequestId)) return;
    const standing = await runs.standing(stream);
    if (standing === undefined && performance.now() - since < LATE_MS) return;
    if (standing?.status === 'running' && isOwedAs(standing, term))
      await (what === 'end' ? end(stream, standing) : offer(stream, standing));
    owed.delete(stream.streamRequestId);
  }

  /** True too for one that an earlier try has made nobody's, and then could not offer or end. */
  function isOwedAs({ owner, term }: RunStanding, owedTerm: number): boolean {
    return owner === self ? term === owedTerm : owner === UNOWNED && term === owedTerm + 1;
  }

  /** Costs one look at each pod, and one at each run that is new, may be lost, or has not been looked at for long. */
  async function visit(entry: Attended, isDead: (owner: string) => Promise<boolean>): Promise<void> {
    const { stream, owner } = entry;
    if (isHere(stream.streamRequestId)) return;
    const isRecent = performance.now() - entry.lookedAt < LOOK_AGAIN_MS;
    if (owner === DETACHED && isRecent) return;
    const isPods = owner !== undefined && owner !== UNOWNED && owner !== DETACHED && owner !== self;
    if (isPods && isRecent && !(await isDead(owner))) return;
    entry.lookedAt = performance.now();
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return;
    entry.owner = standing.owner;
    if (owner !== undefined) await look(stream);
  }

  /** An outage is no news; the next look comes. */
  const noting = (stream: StreamRef) => (error: unknown) => {
    if (!isParleyError(error, 'unavailable')) deps.onFault(error, stream);
  };

  async function isWaiting(stream: StreamRef): Promise<boolean> {
    const standing = await runs.standing(stream);
    return standing?.owner === DETACHED && wakeIfForgotten(deps, stream, standing.term);
  }

  return {
    look,
    isWaiting,
    isLost,
    end,
    owe(stream, term, what) {
      const debt = { stream, term, what, since: performance.now() };
      owed.set(stream.streamRequestId, debt);
      pay(debt).catch(noting(stream));
    },
    attend(stream) {
      const { streamRequestId } = stream;
      const entry = attended.get(streamRequestId) ?? { stream, readers: 0, lookedAt: 0 };
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
        await atOnce([...owed.values()], (debt) => pay(debt).catch(noting(debt.stream)));
        await atOnce([...attended.values()], (entry) => visit(entry, isDead).catch(noting(entry.stream)));
      } finally {
        looking = false;
      }
    },
  };
}

/** Ends a run in place of its owner, with all that it delegated and all that it asked. */
function createEndRun({ engine, runs }: LostRunsDeps) {
  async function endRun(stream: StreamRef, seen: RunStanding): Promise<void> {
    // Should the rest fail, it is nobody's: whoever tries again goes on with that, and whoever looks finds it waiting.
    const term = seen.owner === UNOWNED ? seen.term : await runs.takeOver(stream, seen.term, UNOWNED);
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
      if (standing?.status === 'running') await endRun(stream, standing);
    }
  }

  return endRun;
}

async function atOnce<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += LOOKS_AT_ONCE) {
    await Promise.all(all.slice(from, from + LOOKS_AT_ONCE).map(run));
  }
}

/** What the conversation remembers of such a run: the steps that were whole, for their tools may have done something. */
function saidIn(run: Run) {
  return [...run.input, ...checkpointOf(run).said];
}
