/**
 * The state that the parts of a run share while this pod works on it. Nothing is stored here; records are written by
 * `shared/src/runs`.
 */

import type { NotifyRules } from '@parley/core/domain/notify';
import type { WorkClock } from '@parley/shared/async/work-clock';
import type { Delivery, PauseRecord, RunRef, Support } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { AgentEngine } from '@parley/shared/elicitations/engine';
import type { Waits } from '@parley/shared/runs/detach';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import type { RunWriter } from '@parley/shared/runs/write';
import type { Budget } from './budget.ts';
import type { IdleDetection } from './idle.ts';
import type { TurnObserver } from './observer.ts';
import type { ReachOfQuestion } from './reach.ts';
import type { SampleReply } from './sample-reply.ts';
import type { ToolOutcome } from './tool.ts';

/** Shared by all runs of one turn: its own run and the runs of its delegates. */
interface TurnScope {
  /** The turn's own run. Every question belongs to its stream request and its conversation. */
  readonly run: RunRef;
  /** As the run's record stores it. */
  readonly support: Support;
  readonly reach: ReachOfQuestion;
  /** How a channel tells the person about the turn's questions, including those of delegates. */
  readonly notify: NotifyRules | undefined;
  /** Appends an event to the turn's feed; it is written soon after. */
  readonly append: (event: TurnEvent) => Promise<void>;
  /**
   * Writes all appended events, and checks whether a stop was requested. Rejects if another pod owns the run or the run was
   * removed.
   */
  readonly poll: () => Promise<void>;
  readonly delivery: Delivery;
  /** Detects that no part of the turn is active on this pod. */
  readonly idle: IdleDetection;
  /**
   * 0 only if no question of the turn can be open. It counts the questions that this pod asks. A run that was claimed, and a
   * delegate on another pod, add 1 each until the step's calls have ended, because a pod may die between asking a question and
   * recording it. Only `runTurn` reads it.
   */
  openQuestions: number;
  /** True once the person wrote a message instead of approving a text for a server. That message is answered next. */
  isLeftByMessage?: boolean;
}

/** The state of one run while this pod works on it. */
export interface RunContext {
  readonly engine: AgentEngine;
  readonly turn: TurnScope;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly budget: Budget;
  /**
   * Ids of the run's tool calls so far. On the turn's stream, a delegate's ids have the id of the delegating call as a prefix.
   */
  readonly callIds: Set<string>;
  /** Ids of this run's open questions. */
  readonly open: Set<string>;
  /** Stream requests of the delegates' runs for which this run waits. */
  readonly delegated: Set<string>;
  /** The current pauses of its calls, with their ends by `performance.now()`. */
  readonly rests: Set<{ readonly until: number }>;
  /** Waits of a previous owner that no call has continued yet, by elicitation id. */
  readonly inheritedPauses: Map<string, PauseRecord>;
  /** The agent: its configured id, and the title that questions show to people. */
  readonly id: string;
  readonly title: string;
  /** Lets the agent's model write a text for a server. Absent without a model. */
  readonly sample?: SampleReply | undefined;
  readonly observer: Pick<TurnObserver, 'called' | 'chat' | 'traceparent'>;
  /** Present for a delegate on the turn's own pod, whose calls also appear on the turn's stream. */
  readonly delegate?: { readonly agent: string; readonly callId: string };
  /** The id of the delegating call on the turn's stream, even if the turn is on another pod. Approvals are named after it. */
  readonly shownId?: string;
  /** How many agents are between this one and the person. */
  readonly depth: number;
  readonly delegateTo: Delegate;
  readonly signal: AbortSignal;
  /** Aborted once this pod has released the run to another one, or has failed to release it. */
  readonly released: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** Everything for which a run currently waits. */
export function waitsOf({ open, delegated, rests }: Pick<RunContext, 'open' | 'delegated' | 'rests'>): Waits {
  const next = Math.min(...[...rests].map(({ until }) => until));
  const afterMs = rests.size === 0 ? undefined : Math.max(0, Math.round(next - performance.now()));
  return { questions: [...open], runs: [...delegated], ...(afterMs !== undefined && { afterMs }) };
}

/** Records when the run must continue, in case it is released during a pause. */
export async function resting(
  { rests, signal }: Pick<RunContext, 'rests' | 'signal'>,
  ms: number,
  pause: () => Promise<void>,
): Promise<void> {
  const rest = { until: performance.now() + ms };
  rests.add(rest);
  try {
    await pause();
  } finally {
    // If another pod continues the run, the record stays for that pod. If the run continues here, the record would continue it
    // too early at its next wait.
    if (!belongsToAnotherPod(signal)) rests.delete(rest);
  }
}

/** The parts of the delegating run that a delegate inherits, on this pod or on another one. */
export type Delegator = Pick<
  RunContext,
  'engine' | 'turn' | 'clock' | 'budget' | 'observer' | 'depth' | 'delegateTo' | 'signal' | 'onFault'
>;

/** A call by which a run delegates. */
export interface DelegatingCall {
  readonly from: RunContext;
  readonly toolCallId: string;
  /** The number of delegates in the step that share the run's tokens. */
  readonly sharers: number;
  /** Stream request of the delegate's run, if a previous owner already made this call. */
  readonly before?: string;
  /** Saves the stream request of the delegate's run before that run begins. */
  readonly save: (streamRequestId: string) => Promise<void>;
}

export type Delegate = (call: DelegatingCall, agent: string, task: string) => Promise<ToolOutcome>;
