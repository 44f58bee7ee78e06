import { randomUUID } from 'node:crypto';
import { type ErrorCode, isParleyError, ParleyError, QUOTA_CODES } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ReachedQuota } from '../domain/runs/commands.ts';
import type { ConversationRef, Run, RunRef } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { Conversations } from '../ports/runs/conversations.ts';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';
import type { RunConsumer, RunQueue } from '../ports/runs/run-queue.ts';
import type { BeginResult, NewRun, Runs } from '../ports/runs/runs.ts';
import { beginRun } from './begin.ts';
import { type ClaimedRun, claimRun, createDeferredRuns } from './claim.ts';
import { RunInterruptedError } from './interruption.ts';
import { LEASE_TIMING, type LeaseTiming, startLease } from './lease.ts';
import { type CleanupKind, createLocalRuns, type LocalRuns } from './local-runs.ts';
import { createOwnedRun, type OwnedRun } from './owned-run.ts';
import { createRecovery, type Recovery } from './recover.ts';
import { stopTurn } from './stop.ts';

const FIRST_TERM = 1;
// A rollout of a configuration lets a pod with the new one take the run within this time.
const DEFERRAL_MS = 60_000;
const DEATHS_MAX = 5;
// Errors of a begin that has changed nothing.
const REFUSALS: readonly ErrorCode[] = ['turn_running', 'idempotency_mismatch', ...QUOTA_CODES];

export interface PodRunsDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'isOpen' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly heartbeats: Pick<Heartbeats, 'beat' | 'alive' | 'connected'>;
  /** Delivers orphaned and resumed runs to this pod, and offers runs to all pods. */
  readonly runQueue: RunQueue;
  /** The pod's name, for people. Each start of the pod is an owner of its own. */
  readonly pod: string;
  readonly leaseTiming?: LeaseTiming | undefined;
  /** Runs that this pod works on at once. A full pod begins none, and takes none from the queue. No limit when absent. */
  readonly runsMax?: number;
  /** The same for the runs of one tenant, of which no more begin. */
  readonly tenantRunsMax?: number;
  /** False for an agent that this pod's configuration does not have; such runs are left to other pods for a while. */
  readonly knowsAgent?: (agent: string) => boolean;
  /** For how long, in ms. */
  readonly deferralMs?: number;
  /** A run is ended when so many of its owners died soon after they got it, or four times as many died in all. */
  readonly deathsMax?: number;
  /** Called with the limit for which a run was not begun. */
  readonly onRefused?: (limit: RunLimit) => void;
  /** Receives errors of the recovery that are no outage. */
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A limit on runs, for metrics. */
type RunLimit = `${ReachedQuota['of']}-${ReachedQuota['quota']}` | 'pod-turns' | 'pod-tenant-turns';

/**
 * Work on a run that this pod owns. `stopping` aborts it: with a RunInterruptedError where the pod stops, else because
 * the person stopped the turn. Resolves to true once the run's end is written, or once another pod owns the run. Never
 * rejects.
 */
export type Work = (owned: OwnedRun, stopping: AbortController) => Promise<boolean>;

/** Work on a run that this pod has claimed. `record` is the run as its previous owner left it. */
type ClaimedWork = (owned: OwnedRun, record: Run, stopping: AbortController) => Promise<boolean>;

/** The runs of one pod: their life from begin or claim to end, without what they do. */
interface PodRuns extends Pick<LocalRuns, 'reserve' | 'watch'> {
  /** This pod as an owner of runs. */
  readonly owner: string;
  /**
   * Begins a run and works on it; or finds the run that an earlier request with the same key began (`known`). Throws
   * what `beginRun` throws, and `pod_busy` where this pod may not begin more. After `unavailable` a run with a key may
   * have begun, and then continues; one without a key is ended.
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
  isRunning: Recovery['isRunning'];
  /** As `Recovery.isWaiting`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Stops the conversation's running turn, on whichever pod it runs. False when none runs. Throws `unavailable`. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /** Hands all runs of this pod over to other pods. Resolves once that is done. */
  close(): Promise<void>;
}

export function createPodRuns(deps: PodRunsDeps): PodRuns {
  const { runs, runsMax = Number.POSITIVE_INFINITY, tenantRunsMax = Number.POSITIVE_INFINITY } = deps;
  const onRefused = deps.onRefused ?? (() => undefined);
  const owner = `${deps.pod}/${randomUUID()}`;
  const local = createLocalRuns();
  const { knowsAgent = () => true, deferralMs = DEFERRAL_MS, deathsMax = DEATHS_MAX } = deps;
  const deferred = createDeferredRuns(deferralMs);
  const lease = startLease(
    deps.heartbeats,
    owner,
    deps.leaseTiming ?? LEASE_TIMING,
    () => void recovery.poll(),
  );
  const recovery = createRecovery({ ...deps, local, owner, hasLapsed: (other) => lease.hasLapsed(other) });
  const consumers: RunConsumer[] = [];
  let isClosing = false;
  /** Runs that this pod is taking from the queue. */
  let claiming = 0;

  /** Other pods must see a living owner before this pod owns a run. */
  async function ensureLease(): Promise<void> {
    await lease.renew();
    if (isClosing) {
      throw new ParleyError('unavailable', 'This pod is shutting down; ask again.', { retryAfterSeconds: 1 });
    }
  }

  function isFull(): boolean {
    return claiming + local.countActive() >= runsMax;
  }

  function refuseIfFull({ tenant }: StreamRef): void {
    const limit = isFull()
      ? 'pod-turns'
      : local.countActive(tenant) >= tenantRunsMax
        ? 'pod-tenant-turns'
        : undefined;
    if (limit === undefined) return;
    onRefused(limit);
    throw new ParleyError('pod_busy', 'This pod runs as many turns as it may; ask again.', {
      retryAfterSeconds: 1,
    });
  }

  /** A full pod leaves the runs of the queue to others. */
  function pauseWhileFull(): void {
    if (isClosing) return;
    for (const consumer of consumers) {
      if (isFull()) consumer.pause();
      else consumer.resume();
    }
  }

  /** Makes the run active on this pod, and cleans up if the work could not. */
  function activate(
    stream: StreamRef,
    term: number,
    stopping: AbortController,
    work: Promise<CleanupKind | undefined>,
  ): void {
    const done = local.activate(stream, stopping, work);
    pauseWhileFull();
    void done.then((cleanup) => {
      pauseWhileFull();
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
      refuseIfFull(run);
      await ensureLease();
      const stopping = new AbortController();
      const begun = beginRun({ runs, recovery, onRefused }, { ...run, owner });
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
        if (isFull()) throw new ParleyError('pod_busy', 'This pod is full; another one takes the run.');
        claiming += 1;
        try {
          await ensureLease();
          const claims = { ...deps, local, recovery, owner, knowsAgent, deferred, deathsMax };
          await claimRun(claims, stream, (claimed) => startClaimed(work, claimed));
        } finally {
          claiming -= 1;
          pauseWhileFull();
        }
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
  if (isParleyError(error) && REFUSALS.includes(error.code)) return undefined;
  return hasKey ? 'offer' : 'end';
}
