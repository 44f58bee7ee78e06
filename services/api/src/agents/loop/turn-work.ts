import type {
  ConversationRef,
  Delivery,
  Message,
  Run,
  RunRef,
  Support,
} from '@parley/shared/domain/runs/run';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { BeginResult } from '@parley/shared/ports/runs/runs';
import { isInterrupted, RunDetachedError } from '@parley/shared/runs/interruption';
import { createRunWriter, type RunWriter } from '@parley/shared/runs/write';
import { createDelegate } from '../delegation/delegate.ts';
import { stopDelegates } from '../delegation/follow.ts';
import { type RemoteDelegateDeps, workOnRemoteDelegate } from '../delegation/remote-delegate.ts';
import { letGo, type Waits } from '../ownership/hand-over.ts';
import { withdrawLeft } from '../ownership/open-questions.ts';
import { BEGINNING, type Checkpoint } from './checkpoint.ts';
import { fromFirstUser } from './history.ts';
import { createIdleDetection, idleAfterMs } from './idle.ts';
import { resumePoint } from './resume-point.ts';
import { runTurn } from './run.ts';
import { breakTurn } from './run-end.ts';

/** What makes a repeat of a request lead to the same turn. */
export interface Repeatable {
  /** The caller's name for the request; belongs to the person of its conversation. */
  readonly key: string;
  /** Digest of what is asked, as the client named it. */
  readonly digest: string;
}

export interface TurnRequest {
  readonly conversation: ConversationRef;
  /** The agent to talk with; the configuration's own choice when absent. Throws `invalid_request` when unknown. */
  readonly agent?: string;
  readonly input: readonly Message[];
  /** What was said before, for a conversation that Parley does not know yet. */
  readonly before: readonly Message[];
  readonly support: Support;
  /** What becomes of the turn while it waits for its person; `hold` when absent. */
  readonly delivery?: Delivery;
  /** Absent: sent again, it is another turn. */
  readonly repeatable?: Repeatable;
}

export interface TurnWorkDeps extends RemoteDelegateDeps {
  readonly engine: RemoteDelegateDeps['engine'] & Parameters<typeof withdrawLeft>[0];
  readonly conversations: Pick<Conversations, 'read'>;
}

export type Begun = BeginResult & { type: 'begun' };

/** A turn that was begun here. */
export interface BegunTurn {
  readonly run: RunRef;
  readonly start: Begun;
  readonly agent: { readonly id: string; readonly title: string };
  readonly request: TurnRequest;
  readonly stopping: AbortController;
}

/** A run that this pod has taken over. */
export interface TakenRun {
  readonly run: Run;
  readonly term: number;
  readonly stopping: AbortController;
}

/**
 * Sets a turn up and runs it. True once its end is written, or is another pod's to write: the one that it was handed
 * to, or that took it over. Never rejects.
 */
export async function workOnTurn(
  deps: TurnWorkDeps,
  { run, start, agent, request, stopping }: BegunTurn,
): Promise<boolean> {
  deps.observer.began(run);
  const writer = createRunWriter({ runs: deps.runs, run, ...start });
  const { delivery = 'hold' } = request;
  return workOn(deps, { ...request, delivery, run, writer, agent, stopping, from: BEGINNING });
}

/** Goes on with a run that another pod had begun, whoever it is for. As `workOnTurn`. */
export async function workOnTaken(deps: TurnWorkDeps, { run, term, stopping }: TakenRun): Promise<boolean> {
  const { delegateRequest, support, delivery, input, writerSeq } = run;
  if (delegateRequest !== undefined)
    return workOnRemoteDelegate(deps, { run: { ...run, delegateRequest }, term }, stopping);
  deps.observer.resumed(run, term);
  const writer = createRunWriter({ runs: deps.runs, run, term, writerSeq });
  const agent = { id: run.agent, title: run.agent };
  const from = await resumePoint({ runs: deps.runs, onFault: (error) => deps.onFault(error, run) }, run);
  return workOn(deps, { run, writer, agent, stopping, support, delivery, input, before: [], from });
}

const NO_WAITS: Waits = { questions: [], runs: [] };

interface Work extends Pick<TurnRequest, 'support' | 'input' | 'before'> {
  readonly delivery: Delivery;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly agent: { readonly id: string; readonly title: string };
  readonly stopping: AbortController;
  readonly from: Checkpoint;
}

async function workOn(deps: TurnWorkDeps, work: Work): Promise<boolean> {
  const { engine, agents, observer } = deps;
  const { run, writer, stopping, support, delivery, from } = work;
  const stopped = stopping.signal;
  const startedAt = performance.now();
  const onFault = (error: unknown) => deps.onFault(error, run);
  let left: 'detached' | 'handed_over' | undefined;
  const leave = async (waits: Waits) => {
    left = await letGo(deps, run, writer, { reason: stopped.reason, waits });
  };
  const idle = createIdleDetection(idleAfterMs(deps, delivery), () => stopping.abort(new RunDetachedError()));
  let { input } = work;
  try {
    const signal = AbortSignal.any([stopped, writer.fenced]);
    if (from.isRestarted) await writer.append({ type: 'turn-attached' });
    const agent = agents.find(work.agent.id);
    const { messages } = await retryWhileUnavailable(() => deps.conversations.read(run), signal);
    const history = fromFirstUser(messages);
    // As the record has it since it was begun.
    if (history.length === 0) input = [...fromFirstUser(work.before), ...work.input];
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
      letGo: leave,
      delegateTo: createDelegate(deps),
      withdrawLeft: () => retryWhileUnavailable(() => withdrawUnlessTaken(deps, run, writer)),
      onFault,
    });
  } catch (error) {
    // What could not be let go of is handed over as it stands; what cannot be handed over is ended.
    const isLeft = isInterrupted(stopped) && (await leave(NO_WAITS).then(() => true, onFault));
    if (isLeft !== true && !writer.fenced.aborted) {
      if (from.isRestarted) await retryWhileUnavailable(() => endAsking(deps, run, writer)).catch(onFault);
      await breakTurn({ writer, stopped, onFault }, input, error);
    }
  } finally {
    idle.stop();
  }
  if (writer.fenced.aborted) left ??= 'handed_over';
  const durationMs = Math.round(performance.now() - startedAt);
  observer.ended(run, {
    agent: work.agent.id,
    outcome: writer.outcome ?? left ?? 'failed',
    durationMs,
  });
  return (writer.outcome ?? left) !== undefined;
}

/** Ends what another pod had begun of a run that this one cannot set up. */
async function endAsking(deps: TurnWorkDeps, run: RunRef, writer: RunWriter): Promise<void> {
  await stopDelegates(deps.runs, run);
  await withdrawUnlessTaken(deps, run, writer);
}

/** What a run asked is its new owner's, where it has one that goes on with it. */
async function withdrawUnlessTaken(
  { engine, runs }: TurnWorkDeps,
  run: RunRef,
  writer: RunWriter,
): Promise<void> {
  const standing = await runs.standing(run);
  if (standing?.status === 'running' && standing.term !== writer.term) return;
  await withdrawLeft(engine, run, run.streamRequestId);
}
