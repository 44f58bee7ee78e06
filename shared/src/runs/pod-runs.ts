import { randomUUID } from 'node:crypto';
import { isParleyError, ParleyError } from '../domain/errors.ts';
import type { StreamRef } from '../domain/ids.ts';
import type { ConversationRef, Run, RunRef } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { Conversations } from '../ports/runs/conversations.ts';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { BeginResult, NewRun, Runs } from '../ports/runs/runs.ts';
import { beginRun } from './begin.ts';
import { type ClaimedRun, claimRun } from './claim.ts';
import { RunInterruptedError } from './interruption.ts';
import { LEASE_TIMING, type LeaseTiming, startLease } from './lease.ts';
import { type CleanupKind, createLocalRuns, type LocalRuns } from './local-runs.ts';
import { createOwnedRun, type OwnedRun } from './owned-run.ts';
import { createRecovery } from './recover.ts';
import { stopTurn } from './stop.ts';

const FIRST_TERM = 1;

export interface PodRunsDeps {
  readonly engine: Pick<Engine, 'list' | 'read' | 'withdraw'>;
  readonly runs: Runs;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly heartbeats: Pick<Heartbeats, 'beat' | 'alive' | 'connected'>;
  /** Delivers orphaned and resumed runs to this pod, and offers runs to all pods. */
  readonly runQueue: RunQueue;
  /** The pod's name, for people. Each start of the pod is an owner of its own. */
  readonly pod: string;
  readonly leaseTiming?: LeaseTiming | undefined;
  /** Receives errors of the recovery that are no outage. */
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/**
 * Work on a run that this pod owns. `stopping` aborts it: with a RunInterruptedError where the pod stops, else because
 * the person stopped the turn. Resolves to true once the run's end is written, or once another pod owns the run. Never
 * rejects.
 */
export type Work = (owned: OwnedRun, stopping: AbortController) => Promise<boolean>;

/** Work on a run that this pod has claimed. `record` is the run as its previous owner left it. */
export type ClaimedWork = (owned: OwnedRun, record: Run, stopping: AbortController) => Promise<boolean>;

/** The runs of one pod: their life from begin or claim to end, without what they do. */
export interface PodRuns extends Pick<LocalRuns, 'reserve' | 'watch'> {
  /** This pod as an owner of runs. */
  readonly owner: string;
  /**
   * Begins a run and works on it; or finds the run that an earlier request with the same key began (`known`). Throws
   * what `beginRun` throws. After `unavailable` a run with a key may have begun, and then continues; one without a key
   * is ended.
   */
  begin(run: Omit<NewRun, 'owner'>, work: Work): Promise<BeginResult & { type: 'begun' | 'known' }>;
  /**
   * Ends a run that this pod may have begun, and that it does not work on: now, or as soon as that is possible. Nothing
   * happens when the run has ended, or another pod owns it.
   */
  endBegun(stream: StreamRef): void;
  /** Starts to claim runs from the queue. */
  claim(work: ClaimedWork): void;
  /** As `Recovery.isRunning`. */
  isRunning(stream: StreamRef): Promise<boolean>;
  /** As `Recovery.isWaiting`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Stops the conversation's running turn, on whichever pod it runs. False when none runs. Throws `unavailable`. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /** Hands all runs of this pod over to other pods. Resolves once that is done. */
  close(): Promise<void>;
}

export function createPodRuns(deps: PodRunsDeps): PodRuns {
  const { runs } = deps;
  const owner = `${deps.pod}/${randomUUID()}`;
  const local = createLocalRuns();
  const lease = startLease(
    deps.heartbeats,
    owner,
    deps.leaseTiming ?? LEASE_TIMING,
    () => void recovery.poll(),
  );
  const recovery = createRecovery({ ...deps, local, owner, hasLapsed: (other) => lease.hasLapsed(other) });
  const consumers: { close(): Promise<void> }[] = [];
  let isClosing = false;

  /** Other pods must see a living owner before this pod owns a run. */
  async function ensureLease(): Promise<void> {
    await lease.renew();
    if (isClosing) {
      throw new ParleyError('unavailable', 'This pod is shutting down; ask again.', { retryAfterSeconds: 1 });
    }
  }

  /** Makes the run active on this pod, and cleans up if the work could not. */
  function activate(
    stream: StreamRef,
    term: number,
    stopping: AbortController,
    work: Promise<CleanupKind | undefined>,
  ): void {
    void local.activate(stream, stopping, work).then((cleanup) => {
      if (cleanup !== undefined) recovery.cleanUp(stream, term, cleanup);
    });
  }

  function startClaimed(work: ClaimedWork, { run, term }: ClaimedRun): void {
    // The work that this pod did under an earlier term is fenced.
    local.interrupt(run.streamRequestId, new RunInterruptedError());
    const stopping = new AbortController();
    if (isClosing) stopping.abort(new RunInterruptedError());
    const owned = createOwnedRun(deps, run, { term, writerSeq: run.writerSeq });
    activate(run, term, stopping, work(owned, run, stopping).then(cleanupAfter));
  }

  async function findRunning(conversation: ConversationRef): Promise<RunRef | undefined> {
    const { running: streamRequestId } = await deps.conversations.read(conversation);
    if (streamRequestId === undefined) return undefined;
    const run = { ...conversation, streamRequestId };
    return (await recovery.isRunning(run)) ? run : undefined;
  }

  return {
    owner,
    reserve: local.reserve,
    watch: local.watch,
    async begin(run, work) {
      await ensureLease();
      const stopping = new AbortController();
      const begun = beginRun({ runs, recovery }, { ...run, owner });
      const worked = begun.then(
        async (start) =>
          start.type === 'begun'
            ? cleanupAfter(await work(createOwnedRun(deps, run, start), stopping))
            : undefined,
        (error: unknown) => cleanupAfterRefusal(error, run.request !== undefined),
      );
      // Active before its record exists: no other request on this pod takes it for an orphan.
      activate(run, FIRST_TERM, stopping, worked);
      return begun;
    },
    endBegun: (stream) => recovery.cleanUp(stream, FIRST_TERM, 'end'),
    claim(work) {
      const consumer = deps.runQueue.consume(async (stream) => {
        await ensureLease();
        await claimRun({ ...deps, local, recovery, owner }, stream, (claimed) => startClaimed(work, claimed));
      });
      consumers.push(consumer);
    },
    isRunning: recovery.isRunning,
    isWaiting: recovery.isWaiting,
    async stop(conversation) {
      const run = await findRunning(conversation);
      return run !== undefined && stopTurn(deps, run, () => local.interrupt(run.streamRequestId));
    },
    async close() {
      isClosing = true;
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await local.close();
      lease.stop();
    },
  };
}

/** A run whose end could not be written must still be ended. */
function cleanupAfter(hasEnded: boolean): CleanupKind | undefined {
  return hasEnded ? undefined : 'end';
}

/**
 * A begin whose reply was lost may have succeeded. A caller with a key repeats its request and must find the run at
 * work; a caller without one got an error.
 */
function cleanupAfterRefusal(error: unknown, hasKey: boolean): CleanupKind | undefined {
  if (isParleyError(error, 'turn_running') || isParleyError(error, 'idempotency_mismatch')) return undefined;
  return hasKey ? 'offer' : 'end';
}
