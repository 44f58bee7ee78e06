import { randomUUID } from 'node:crypto';
import { isParleyError, ParleyError } from '@parley/shared/domain/errors';
import type { FeedPosition } from '@parley/shared/domain/events';
import { keyedStreamRequestId, mintStreamRequestId, type StreamRef } from '@parley/shared/domain/ids';
import { type ConversationRef, type RunRef, type RunRequest, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { BeginResult, NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { RunInterruptedError } from '@parley/shared/runs/interruption';
import { RHYTHM, type Rhythm, startPulse } from '@parley/shared/runs/lease';
import { stopDelegates } from '../agents/delegation/follow.ts';
import type { Agents } from '../agents/loop/agents.ts';
import { fromFirstUser } from '../agents/loop/history.ts';
import type { TurnObserver } from '../agents/loop/observer.ts';
import { type TurnRequest, type TurnWorkDeps, workOnTaken, workOnTurn } from '../agents/loop/turn-work.ts';
import { createHere } from '../agents/ownership/active-runs.ts';
import { withdrawLeft } from '../agents/ownership/open-questions.ts';
import { createLostRuns, type Owed } from '../agents/ownership/orphaned-runs.ts';
import { findResumable } from './resumable.ts';

const BEGIN_TRIES = 5;
const FIRST_TERM = 1;
// A run that takes one pod after the other down with it has to end.
const TAKEOVERS_MAX = 100;

export interface TurnsDeps {
  readonly engine: Engine;
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly feed: Pick<Feed, 'read'>;
  readonly heartbeats: Pick<Heartbeats, 'beat' | 'alive'>;
  /** Runs that wait for a pod: this one takes them, and offers what it cannot go on with. */
  readonly runQueue: RunQueue;
  /** Whether a delegate works on the pod of whoever delegates, or on any. */
  readonly delegates: 'same-pod' | 'any-pod';
  /** How long this pod holds a turn that waits for its person, in ms; then it is detached. */
  readonly holdMs: number;
  readonly agents: Agents;
  readonly observer: TurnObserver;
  /** Name of this pod, for people; each start of it is an owner of its own. */
  readonly pod: string;
  /** Told of what ended a turn in an error. */
  readonly onFault: (error: unknown, run: StreamRef) => void;
  readonly rhythm?: Rhythm;
}

/** The turn that a request began. */
export interface BegunRun extends RunRef {
  /** True when an earlier request with the same key had begun it; it may have ended since. */
  readonly isRepeat: boolean;
}

/** The turns that this pod runs. */
export interface Turns {
  /**
   * Begins a turn, which goes on whether or not anybody listens. A repeat of a request is given the turn that the first
   * one began, with its conversation. Throws `turn_running` while another one runs, `idempotency_mismatch` where the key
   * was used for another request, and `unavailable`: then the turn may have begun, and goes on if the request can be
   * repeated.
   */
  begin(request: TurnRequest): Promise<BegunRun>;
  /** The turn that a reader is to be told who has all up to `after`, or nothing; also one that has ended since. */
  resumable(conversation: ConversationRef, after: FeedPosition | undefined): Promise<StreamRef | undefined>;
  /** True for a detached turn that waits; one that only should go on is woken. Throws `unavailable`. */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Stops the running turn, on whichever pod; its open questions are withdrawn. False when none runs. */
  stop(conversation: ConversationRef): Promise<boolean>;
  /**
   * While somebody reads a turn: should its pod die, another goes on with it within seconds, also where no worker
   * runs. To be called when the reader leaves.
   */
  attend(stream: StreamRef): () => void;
  /** Hands all turns of this pod over to the others, and resolves once that is done. */
  close(): Promise<void>;
}

/** Makes the host of the turns of one pod. */
export function createTurns(deps: TurnsDeps): Turns {
  const { engine, runs, conversations } = deps;
  const owner = `${deps.pod}/${randomUUID()}`;
  /** A run is here before its record says so. */
  const here = createHere();
  /** What is being taken over, and delegates that work within turns of this pod. */
  const busy = new Set<string>();
  const pulse = startPulse(deps.heartbeats, owner, deps.rhythm ?? RHYTHM, () => void lost.lookAround());
  const lost = createLostRuns({
    ...deps,
    owner,
    isHere: (streamRequestId) => here.has(streamRequestId) || busy.has(streamRequestId),
    isDead: (other) => pulse.isDead(other),
  });
  const host: TurnWorkDeps = {
    ...deps,
    owner,
    attend: (run) => lost.attend(run),
    keepBusy({ streamRequestId }) {
      busy.add(streamRequestId);
      return () => busy.delete(streamRequestId);
    },
  };
  const consumer = deps.runQueue.consume(take);
  let closing = false;

  async function begin(request: TurnRequest): Promise<BegunRun> {
    const agent = deps.agents.find(request.agent);
    const run: RunRef = { ...request.conversation, streamRequestId: await streamRequestIdOf(request) };
    // Whoever finds this turn running must find its pod alive.
    await pulse.beat();
    if (closing) throw goingAway();
    const asked = request.repeatable && { digest: request.repeatable.digest, nonce: randomUUID() };
    const stopping = new AbortController();
    const begun = beginUnlessRunning(newRunOf(run, agent.id, owner, request, asked));
    const work = begun.then(
      async (start) =>
        start.type === 'begun'
          ? debtOf(await workOnTurn(host, { run, start, agent, request, stopping }))
          : undefined,
      // Whoever is not told whether their turn began asks again where it has a key, and is to find it at work then.
      (error: unknown) => (isRefusal(error) ? undefined : asked === undefined ? 'end' : 'go-on'),
    );
    hold(run, FIRST_TERM, stopping, work);
    const result = await begun;
    return result.type === 'known'
      ? { ...run, conversationId: result.conversationId, isRepeat: true }
      : { ...run, isRepeat: false };
  }

  /** Goes on with a run that waits for a pod, unless another pod does. */
  async function take(stream: StreamRef): Promise<void> {
    await pulse.beat();
    if (closing) throw goingAway();
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running' || !(await lost.isLost(stream, standing))) return;
    if (standing.takeoverCount > TAKEOVERS_MAX) return lost.end(stream, standing);
    // Handed out twice, it is taken once.
    if (busy.has(stream.streamRequestId)) return;
    const release = host.keepBusy(stream);
    try {
      await takeOver(stream, standing.term);
    } finally {
      release();
    }
  }

  async function takeOver(stream: StreamRef, seen: number): Promise<void> {
    const term = await retryWhileUnavailable(() => runs.takeOver(stream, seen, owner));
    if (term === undefined) return;
    const { run } = await retryWhileUnavailable(() => runs.read(stream)).catch(async (error: unknown) => {
      // Owned by a pod that lives and does not work on it, nobody would find it.
      await retryWhileUnavailable(() => runs.takeOver(stream, term, UNOWNED));
      throw error;
    });
    if (run === undefined) return;
    // What this pod did on it before it fell silent is over.
    here.stop(stream.streamRequestId, new RunInterruptedError());
    const stopping = new AbortController();
    if (closing) stopping.abort(new RunInterruptedError());
    hold(stream, term, stopping, workOnTaken(host, { run, term, stopping }).then(debtOf));
  }

  /** Knows a run as this pod's until its work is done, and owes what that leaves to do. */
  function hold(
    stream: StreamRef,
    term: number,
    stopping: AbortController,
    work: Promise<Owed | undefined>,
  ): void {
    void here.hold(stream, stopping, work).then((what) => {
      if (what !== undefined) lost.owe(stream, term, what);
    });
  }

  /** Begins the run, unless another one runs in its conversation; one that nobody works on is offered to all pods. */
  async function beginUnlessRunning(run: NewRun): Promise<BeginResult & { type: 'begun' | 'known' }> {
    for (let attempt = 0; attempt < BEGIN_TRIES; attempt += 1) {
      const result = await runs.begin(run);
      if (result.type === 'begun' || result.type === 'known') return result;
      if (result.type === 'mismatch') throw keyReused();
      if (await lost.look({ ...run, streamRequestId: result.streamRequestId })) break;
    }
    throw new ParleyError('turn_running', 'A turn is running in this conversation; wait for it or stop it.');
  }

  async function findRunning(conversation: ConversationRef): Promise<StreamRef | undefined> {
    const { tenant, userId } = conversation;
    const { running: streamRequestId } = await conversations.read(conversation);
    if (streamRequestId === undefined) return undefined;
    const stream = { tenant, userId, streamRequestId };
    return (await lost.look(stream)) ? stream : undefined;
  }

  return {
    begin,
    resumable: (conversation, after) =>
      findResumable({ ...deps, look: (stream) => lost.look(stream) }, conversation, after),
    isWaiting: (stream) => lost.isWaiting(stream),
    async stop(conversation) {
      const stream = await findRunning(conversation);
      if (stream === undefined || !(await runs.stop(stream))) return false;
      here.stop(stream.streamRequestId);
      // On whichever pods they work: so nobody goes on when their questions come back.
      await stopDelegates(runs, stream);
      // Its own pod does that too; it may only hear of the stop by it.
      await withdrawLeft(engine, conversation, stream.streamRequestId);
      return true;
    },
    attend: (stream) => lost.attend(stream),
    async close() {
      closing = true;
      await consumer.close();
      await here.close();
      pulse.stop();
    },
  };
}

function streamRequestIdOf({ conversation, repeatable }: TurnRequest): Promise<string> | string {
  return repeatable === undefined
    ? mintStreamRequestId()
    : keyedStreamRequestId(conversation, repeatable.key);
}

function newRunOf(
  run: RunRef,
  agent: string,
  owner: string,
  request: TurnRequest,
  asked: RunRequest | undefined,
): NewRun {
  const { input, before, support, delivery = 'hold' } = request;
  const { streamRequestId, conversationId } = run;
  const messageId = `msg_${streamRequestId.slice(3)}`;
  return {
    ...run,
    agent,
    owner,
    support,
    delivery,
    input,
    before: fromFirstUser(before),
    ...(asked !== undefined && { request: asked }),
    event: { type: 'turn-started', conversationId, messageId, agent },
  };
}

/** Whoever could not write the end of a run owes that. */
function debtOf(ended: boolean): Owed | undefined {
  return ended ? undefined : 'end';
}

/** True for an answer by which nothing was begun. */
function isRefusal(error: unknown): boolean {
  return isParleyError(error, 'turn_running') || isParleyError(error, 'idempotency_mismatch');
}

function keyReused(): ParleyError {
  return new ParleyError(
    'idempotency_mismatch',
    'This Idempotency-Key was used with another message; use a new key.',
  );
}

function goingAway(): ParleyError {
  return new ParleyError('unavailable', 'This pod is going away; ask again.', { retryAfterSeconds: 1 });
}
