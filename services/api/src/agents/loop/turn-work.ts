/**
 * Prepares the work on a turn that this pod has begun or claimed: agent, history, checkpoint. The turn itself runs in `run.ts`.
 */

import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type {
  ConversationRef,
  Delivery,
  Message,
  Run,
  RunRef,
  Support,
} from '@parley/shared/domain/runs/run';
import type { AgentEngine } from '@parley/shared/elicitations/engine';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { NO_WAITS, type ReleaseKind, type Waits } from '@parley/shared/runs/detach';
import { isInterrupted, RunDetachedError } from '@parley/shared/runs/interruption';
import type { OwnedRun } from '@parley/shared/runs/owned-run';
import { viewerOf } from '../mcp/visibility.ts';
import { createIdleDetection, type IdleDeps, idleAfterMs } from '../run/idle.ts';
import type { TurnObserver } from '../run/observer.ts';
import { createReach, type ReachDeps, withNotices } from '../run/reach.ts';
import type { Delegate } from '../run/run-context.ts';
import type { Agents } from './agents.ts';
import { BEGINNING, type Checkpoint } from './checkpoint.ts';
import { asModelReads, fromFirstUser } from './history.ts';
import { readCheckpoint } from './read-checkpoint.ts';
import { runTurn } from './run.ts';
import { failTurn } from './run-end.ts';

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
  /** Earlier messages that the client sent, for a conversation that Parley does not know yet. */
  readonly before: readonly Message[];
  readonly support: Support;
  /** What happens to the turn while it waits for its person; by default, `hold`. */
  readonly delivery?: Delivery;
  /** As `NewRun.unlisted`. */
  readonly unlisted?: true;
  /** As in the event `turn-started`. */
  readonly sent?: unknown;
  /** If absent, a repeated request begins another turn. */
  readonly repeatable?: Repeatable;
}

interface TurnWorkDeps extends IdleDeps, ReachDeps {
  readonly engine: AgentEngine;
  readonly runs: Pick<Runs, 'read'>;
  readonly conversations: Pick<Conversations, 'read'>;
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
  owned: OwnedRun,
  stopping: AbortController,
): Promise<boolean> {
  deps.observer.began(owned.run);
  const agent = deps.agents.find(request.agent);
  const { delivery = 'hold' } = request;
  return workOn(deps, owned, { ...request, delivery, agent, stopping, from: BEGINNING });
}

/** Continues a turn that this pod has claimed. Resolves as `workOnBegun`. */
export async function workOnClaimed(
  deps: TurnWorkDeps,
  owned: OwnedRun,
  record: Run,
  stopping: AbortController,
): Promise<boolean> {
  const { support, delivery, input } = record;
  deps.observer.resumed(record, owned.writer.term);
  const agent = { id: record.agent, title: record.agent };
  const onFault = (error: unknown) => deps.onFault(error, record);
  const from = await readCheckpoint({ runs: deps.runs, onFault }, record);
  return workOn(deps, owned, { agent, stopping, support, delivery, input, before: [], from });
}

interface Assignment extends Pick<TurnRequest, 'support' | 'input' | 'before'> {
  readonly delivery: Delivery;
  readonly agent: { readonly id: string; readonly title: string };
  readonly stopping: AbortController;
  readonly from: Checkpoint;
}

async function workOn(deps: TurnWorkDeps, owned: OwnedRun, assignment: Assignment): Promise<boolean> {
  const { engine, agents, observer, delegateTo } = deps;
  const { run, writer } = owned;
  const { stopping, support, delivery, from } = assignment;
  const stopped = stopping.signal;
  const startedAt = performance.now();
  const onFault = (error: unknown) => deps.onFault(error, run);
  let released: ReleaseKind | undefined;
  let previous: string | undefined;
  const release = async (waits: Waits) => {
    released = await owned.release(stopped.reason, waits);
  };
  const idle = createIdleDetection(idleAfterMs(deps, delivery), () => stopping.abort(new RunDetachedError()));
  let { input } = assignment;
  try {
    const signal = AbortSignal.any([stopped, writer.fenced]);
    if (from.isRestarted) await writer.append({ type: 'turn-attached' });
    const agent = agents.find(assignment.agent.id);
    const { messages, last } = await retryWhileUnavailable(() => deps.conversations.read(run), signal);
    previous = last?.traceparent;
    const history = fromFirstUser(asModelReads(messages));
    // The input was already stored when the run began.
    if (history.length === 0) input = [...fromFirstUser(assignment.before), ...assignment.input];
    const reach = createReach(deps, support, agent.notify);
    const client = support.services && { services: support.services, stream: run };
    const person = { ...run, reach, client, viewer: viewerOf(support), showsPages: support.pages };
    const open = await agents.open(agent.id, person, signal);
    await runTurn({
      ...open,
      engine: withNotices(engine, agent.notify),
      writer,
      run,
      id: agent.id,
      title: agent.title,
      observer,
      support,
      reach,
      notify: agent.notify,
      delivery,
      idle,
      history,
      input,
      stopped,
      from,
      release,
      released: owned.released,
      delegateTo,
      withdrawQuestions: owned.withdrawQuestions,
      onFault,
    });
  } catch (error) {
    // A run that cannot be detached is handed over; a run that cannot be handed over is ended.
    const isReleased = isInterrupted(stopped) && (await release(NO_WAITS).then(() => true, onFault));
    if (isReleased !== true && !writer.fenced.aborted) {
      await owned.abandonWaits().catch(onFault);
      await failTurn({ writer, stopped, onFault }, input, error);
    }
  } finally {
    idle.stop();
  }
  if (writer.fenced.aborted) released ??= 'handed_over';
  const outcome = writer.outcome ?? released;
  const durationMs = Math.round(performance.now() - startedAt);
  observer.ended(run, { agent: assignment.agent.id, outcome: outcome ?? 'failed', durationMs, previous });
  return outcome !== undefined;
}
