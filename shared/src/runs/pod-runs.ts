/**
 * The life of the runs on one pod: begin or claim, own, end, release. What an agent does in a run is passed in as work and not
 * known here.
 */

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
// During a rollout, a pod with the new configuration takes the run within this time.
const DEFERRAL_MS = 60_000;
const DEATHS_MAX = 5;
// Errors of a `begin` that has changed nothing.
const REFUSALS: readonly ErrorCode[] = ['turn_running', 'idempotency_mismatch', ...QUOTA_CODES];

export interface PodRunsDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'isOpen' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly heartbeats: Pick<Heartbeats, 'beat' | 'alive' | 'connected'>;
  /** Delivers orphaned and resumed runs to this pod, and offers runs to all pods. */
  readonly runQueue: RunQueue;
  /** The readable name of the pod. Each start of the pod is a different owner. */
  readonly pod: string;
  readonly leaseTiming?: LeaseTiming | undefined;
  /**
   * The maximum number of runs on which this pod works at once. A full pod begins no runs and takes none from the queue. No
   * limit when absent.
   */
  readonly runsMax?: number;
  /** The maximum for the runs of one tenant; it only prevents beginning more. */
  readonly tenantRunsMax?: number;
  /** False for an agent that this pod's configuration lacks. Runs of such agents are left to other pods for `deferralMs`. */
  readonly knowsAgent?: (agent: string) => boolean;
  /** How long such runs are left to other pods, in ms. */
  readonly deferralMs?: number;
  /** A run is ended after this many quick deaths of its owners, or after four times as many deaths in all. */
  readonly deathsMax?: number;
  /** Called with the limit that refused a run. */
  readonly onRefused?: (limit: RunLimit) => void;
  /** Receives errors of the recovery, except outages. */
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A limit on runs, for metrics. */
type RunLimit = `${ReachedQuota['of']}-${ReachedQuota['quota']}` | 'pod-turns' | 'pod-tenant-turns';

/**
 * Work on a run that this pod owns. `stopping` aborts it: with a RunInterruptedError if the pod stops, and otherwise because
 * the person stopped the turn. Resolves to true once the end of the run is written, or another pod owns the run. Never rejects.
 */
export type Work = (owned: OwnedRun, stopping: AbortController) => Promise<boolean>;

/** Work on a run that this pod has claimed. `record` is the run as its previous owner left it. */
type ClaimedWork = (owned: OwnedRun, record: Run, stopping: AbortController) => Promise<boolean>;

/** The runs of one pod: their life from begin or claim to end, without their content. */
interface PodRuns extends Pick<LocalRuns, 'reserve' | 'watch'> {
  /** The owner name of this pod. */
  readonly owner: string;
  /**
   * Begins a run and works on it, or finds the run that an earlier request with the same key began (`known`). Throws what
   * `beginRun` throws, or `pod_busy` if this pod may not begin more runs. After `unavailable`, a run with a key may have begun
   * and then continues; a run without a key is ended.
   */
  begin(run: Omit<NewRun, 'owner'>, work: Work): Promise<BeginResult & { type: 'begun' | 'known' }>;
  /**
   * Ends a run that this pod may have begun but does not work on, as soon as possible. Nothing happens when the run has ended,
   * or another pod owns it.
   */
  endBegun(stream: StreamRef): void;
  /** Starts to claim runs from the queue. */
  claim(work: ClaimedWork): void;
  /** See `Recovery.isRunning`. */
  isRunning: Recovery['isRunning'];
  /** See `Recovery.isWaiting`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Stops the running turn of the conversation, on whichever pod it is. False when none is running. Throws `unavailable`. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /** Hands over all runs of this pod to other pods, and resolves when that is done. */
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
  /** The number of runs that this pod is taking from the queue. */
  let claiming = 0;

  /** Other pods must see this pod's lease before it owns a run. */
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

  /** A full pod leaves queued runs to others. */
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
    // Work that this pod started under an earlier term is stopped; its writes are fenced.
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
      // The run is active before its record exists, so that no other request on this pod takes it for an orphan.
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
 * A `begin` whose reply was lost may have succeeded. A caller with a key repeats its request and must find the run working; a
 * caller without a key got an error, so the run must end.
 */
function cleanupAfterRefusal(error: unknown, hasKey: boolean): CleanupKind | undefined {
  if (isParleyError(error) && REFUSALS.includes(error.code)) return undefined;
  return hasKey ? 'offer' : 'end';
}
