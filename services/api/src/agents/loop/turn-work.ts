import type {
  ConversationRef,
  Delivery,
  Message,
  Run,
  RunRef,
  Support,
} from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { Runs } from '@parley/shared/ports/runs/runs';
import type { ClaimedRun } from '@parley/shared/runs/claim';
import { detachOrHandOver, NO_WAITS, type Waits } from '@parley/shared/runs/detach';
import { isInterrupted, RunDetachedError } from '@parley/shared/runs/interruption';
import { withdrawOfTurn } from '@parley/shared/runs/open-questions';
import type { Begun } from '@parley/shared/runs/pod-runs';
import { stopDelegates } from '@parley/shared/runs/stop';
import { createRunWriter, type RunWriter } from '@parley/shared/runs/write';
import type { Agents } from './agents.ts';
import { BEGINNING, type Checkpoint } from './checkpoint.ts';
import { fromFirstUser } from './history.ts';
import { createIdleDetection, type IdleDeps, idleAfterMs } from './idle.ts';
import type { TurnObserver } from './observer.ts';
import { readCheckpoint } from './read-checkpoint.ts';
import { runTurn } from './run.ts';
import type { Delegate } from './run-context.ts';
import { breakTurn } from './run-end.ts';

/** Makes a repeated request lead to the same turn. */
export interface Repeatable {
  /** The caller's key for the request. Keys belong to the person of the conversation. */
  readonly key: string;
  /** Digest of the request as the client sent it. */
  readonly digest: string;
}

export interface TurnRequest {
  readonly conversation: ConversationRef;
  /** Id of the agent; the configured default when absent. An unknown one throws `invalid_request`. */
  readonly agent?: string;
  readonly input: readonly Message[];
  /** Earlier messages by the client's account, for a conversation that Parley does not know yet. */
  readonly before: readonly Message[];
  readonly support: Support;
  /** What happens to the turn while it waits for its person; `hold` when absent. */
  readonly delivery?: Delivery;
  /** Absent: a repeated request is another turn. */
  readonly repeatable?: Repeatable;
}

export interface TurnWorkDeps extends IdleDeps {
  readonly engine: Pick<Engine, 'ask' | 'list' | 'wait' | 'withdraw'>;
  readonly runs: Runs;
  readonly conversations: Pick<Conversations, 'read'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
  readonly agents: Agents;
  readonly observer: TurnObserver;
  readonly delegateTo: Delegate;
  /** Receives the error that ended a turn. */
  readonly onFault: (error: unknown, run: RunRef) => void;
}

/**
 * Works on a turn that this pod has begun. Resolves to true once its end is written, or once the run belongs to another
 * pod. Never rejects.
 */
export async function workOnBegun(
  deps: TurnWorkDeps,
  request: TurnRequest,
  run: RunRef,
  start: Begun,
  stopping: AbortController,
): Promise<boolean> {
  deps.observer.began(run);
  const writer = createRunWriter({ runs: deps.runs, run, ...start });
  const agent = deps.agents.find(request.agent);
  const { delivery = 'hold' } = request;
  return workOn(deps, { ...request, delivery, run, writer, agent, stopping, from: BEGINNING });
}

/** Continues a turn that this pod has claimed. As `workOnBegun`. */
export async function workOnClaimed(
  deps: TurnWorkDeps,
  { run, term }: ClaimedRun,
  stopping: AbortController,
): Promise<boolean> {
  const { support, delivery, input, writerSeq } = run;
  deps.observer.resumed(run, term);
  const writer = createRunWriter({ runs: deps.runs, run, term, writerSeq });
  const agent = { id: run.agent, title: run.agent };
  const from = await readCheckpoint({ runs: deps.runs, onFault: (error) => deps.onFault(error, run) }, run);
  return workOn(deps, { run, writer, agent, stopping, support, delivery, input, before: [], from });
}

interface Assignment extends Pick<TurnRequest, 'support' | 'input' | 'before'> {
  readonly delivery: Delivery;
  readonly run: RunRef | Run;
  readonly writer: RunWriter;
  readonly agent: { readonly id: string; readonly title: string };
  readonly stopping: AbortController;
  readonly from: Checkpoint;
}

async function workOn(deps: TurnWorkDeps, assignment: Assignment): Promise<boolean> {
  const { engine, agents, observer, delegateTo } = deps;
  const { run, writer, stopping, support, delivery, from } = assignment;
  const stopped = stopping.signal;
  const startedAt = performance.now();
  const onFault = (error: unknown) => deps.onFault(error, run);
  let released: 'detached' | 'handed_over' | undefined;
  const release = async (waits: Waits) => {
    released = await detachOrHandOver(deps, run, writer, { reason: stopped.reason, waits });
  };
  const idle = createIdleDetection(idleAfterMs(deps, delivery), () => stopping.abort(new RunDetachedError()));
  let { input } = assignment;
  try {
    const signal = AbortSignal.any([stopped, writer.fenced]);
    if (from.isRestarted) await writer.append({ type: 'turn-attached' });
    const agent = agents.find(assignment.agent.id);
    const { messages } = await retryWhileUnavailable(() => deps.conversations.read(run), signal);
    const history = fromFirstUser(messages);
    // The begin stored the same input.
    if (history.length === 0) input = [...fromFirstUser(assignment.before), ...assignment.input];
    const open = await agents.open(agent.id, run, signal);
    await runTurn({
      ...open,
      engine,
      writer,
      run,
      id: agent.id,
      title: agent.title,
      observer,
      support,
      delivery,
      idle,
      history,
      input,
      stopped,
      from,
      release,
      delegateTo,
      withdrawQuestions: () => retryWhileUnavailable(() => withdrawUnlessTaken(deps, run, writer)),
      onFault,
    });
  } catch (error) {
    // A run that cannot be detached is handed over; a run that cannot be handed over is ended.
    const isReleased = isInterrupted(stopped) && (await release(NO_WAITS).then(() => true, onFault));
    if (isReleased !== true && !writer.fenced.aborted) {
      if (from.isRestarted) await retryWhileUnavailable(() => endQuestions(deps, run, writer)).catch(onFault);
      await breakTurn({ writer, stopped, onFault }, input, error);
    }
  } finally {
    idle.stop();
  }
  if (writer.fenced.aborted) released ??= 'handed_over';
  const outcome = writer.outcome ?? released;
  const durationMs = Math.round(performance.now() - startedAt);
  observer.ended(run, { agent: assignment.agent.id, outcome: outcome ?? 'failed', durationMs });
  return outcome !== undefined;
}

/** Ends the questions and delegates of a claimed run that this pod could not set up. */
async function endQuestions(deps: TurnWorkDeps, run: RunRef, writer: RunWriter): Promise<void> {
  await stopDelegates(deps.runs, run);
  await withdrawUnlessTaken(deps, run, writer);
}

/** The questions of a run that another pod continues belong to that pod. */
async function withdrawUnlessTaken(
  { engine, runs }: TurnWorkDeps,
  run: RunRef,
  writer: RunWriter,
): Promise<void> {
  const standing = await runs.standing(run);
  if (standing?.status === 'running' && standing.term !== writer.term) return;
  await withdrawOfTurn(engine, run);
}
