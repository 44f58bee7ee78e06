import type { ConversationRef, Message, Run, RunRef, Support } from '@parley/shared/domain/run';
import { untilBack } from '@parley/shared/engine/outage';
import type { Conversations } from '@parley/shared/ports/conversations';
import type { BeginResult } from '@parley/shared/ports/runs';
import { BEGINNING, type Checkpoint, checkpointOf } from './checkpoint.ts';
import { type CommissionDeps, workOnCommission } from './commissions.ts';
import { createDelegate } from './delegate.ts';
import { stopDelegates } from './delegate-follow.ts';
import { handOver } from './hand-over.ts';
import { withdrawLeft } from './leftovers.ts';
import { runTurn } from './run.ts';
import { breakTurn, isInterrupted } from './run-end.ts';
import { createRunWriter, type RunWriter } from './run-writer.ts';

export interface TurnRequest {
  readonly conversation: ConversationRef;
  /** The agent to talk with; the configuration's own choice when absent. Throws `invalid_request` when unknown. */
  readonly agent?: string;
  readonly input: readonly Message[];
  /** What was said before, for a conversation that Parley does not know yet. */
  readonly before: readonly Message[];
  readonly support: Support;
}

export interface TurnWorkDeps extends CommissionDeps {
  readonly engine: CommissionDeps['engine'] & Parameters<typeof withdrawLeft>[0];
  readonly conversations: Pick<Conversations, 'read'>;
}

export type Begun = BeginResult & { type: 'begun' };

/** A turn that was begun here. */
export interface BegunTurn {
  readonly run: RunRef;
  readonly start: Begun;
  readonly agent: { readonly id: string; readonly title: string };
  readonly request: TurnRequest;
  readonly stopped: AbortSignal;
}

/** A run that this pod has taken over. */
export interface TakenRun {
  readonly run: Run;
  readonly term: number;
  readonly stopped: AbortSignal;
}

/**
 * Sets a turn up and runs it. True once its end is written, or is another pod's to write: the one that it was handed
 * to, or that took it over. Never rejects.
 */
export async function workOnTurn(
  deps: TurnWorkDeps,
  { run, start, agent, request, stopped }: BegunTurn,
): Promise<boolean> {
  deps.observer.began(run);
  const writer = createRunWriter({ runs: deps.runs, run, ...start });
  return workOn(deps, { ...request, run, writer, agent, stopped, from: BEGINNING });
}

/** Goes on with a run that another pod had begun, whoever it is for. As `workOnTurn`. */
export async function workOnTaken(deps: TurnWorkDeps, { run, term, stopped }: TakenRun): Promise<boolean> {
  const { commission, support, input, writerSeq } = run;
  if (commission !== undefined) return workOnCommission(deps, { run: { ...run, commission }, term }, stopped);
  deps.observer.resumed(run, term);
  const writer = createRunWriter({ runs: deps.runs, run, term, writerSeq });
  const agent = { id: run.agent, title: run.agent };
  return workOn(deps, { run, writer, agent, stopped, support, input, before: [], from: checkpointOf(run) });
}

interface Work extends Pick<TurnRequest, 'support' | 'input' | 'before'> {
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly agent: { readonly id: string; readonly title: string };
  readonly stopped: AbortSignal;
  readonly from: Checkpoint;
}

async function workOn(deps: TurnWorkDeps, work: Work): Promise<boolean> {
  const { engine, agents, observer } = deps;
  const { run, writer, stopped, support, from } = work;
  const startedAt = performance.now();
  const onFault = (error: unknown) => deps.onFault(error, run);
  const letGo = () => handOver(deps, run, writer);
  let { input } = work;
  try {
    const signal = AbortSignal.any([stopped, writer.lost]);
    const agent = agents.find(work.agent.id);
    const { messages } = await untilBack(() => deps.conversations.read(run), signal);
    const history = fromFirstUser(messages);
    if (history.length === 0) input = await keepBefore(writer, work);
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
      history,
      input,
      stopped,
      from,
      handOver: letGo,
      delegateTo: createDelegate(deps),
      withdrawLeft: () => untilBack(() => withdrawUnlessTaken(deps, run, writer)),
      onFault,
    });
  } catch (error) {
    if (isInterrupted(stopped)) await letGo().catch(onFault);
    else {
      if (from.isRestarted) await untilBack(() => endAsking(deps, run, writer)).catch(onFault);
      await breakTurn({ writer, stopped, onFault }, input, error);
    }
  }
  const isLeft = writer.outcome === undefined && (isInterrupted(stopped) || writer.lost.aborted);
  const durationMs = Math.round(performance.now() - startedAt);
  observer.ended(run, {
    agent: work.agent.id,
    outcome: isLeft ? 'handed_over' : (writer.outcome ?? 'failed'),
    durationMs,
  });
  return isLeft || writer.outcome !== undefined;
}

/** What its client tells of the time before, for a conversation that Parley does not know: it is kept with the turn. */
async function keepBefore(
  writer: RunWriter,
  { before, input }: Pick<TurnRequest, 'before' | 'input'>,
): Promise<readonly Message[]> {
  const told = fromFirstUser(before);
  if (told.length === 0) return input;
  const messages = [...told, ...input];
  await writer.keep([{ type: 'input', messages }]);
  return messages;
}

/** A history that was cut may begin in the middle of a turn, which models refuse. */
function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
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
