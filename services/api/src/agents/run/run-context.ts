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
  /** As the run's record keeps it. */
  readonly support: Support;
  readonly reach: ReachOfQuestion;
  /** How a channel notifies the person of the turn's questions, those of delegates included. */
  readonly notify: NotifyRules | undefined;
  /** Appends an event to the turn's feed, soon. */
  readonly append: (event: TurnEvent) => Promise<void>;
  /** Writes all appended events, and learns whether a stop was requested. Rejects where the run was taken away or removed. */
  readonly poll: () => Promise<void>;
  readonly delivery: Delivery;
  /** Detects that no part of the turn is active on this pod. */
  readonly idle: IdleDetection;
  /** How many questions were asked and have not ended. */
  openQuestions: number;
  /** True once its person wrote a message instead of approving a text for a server: the message is answered next. */
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
  /** Ids of its tool calls so far. On the turn's stream, a delegate's ids are prefixed with the delegating call's id. */
  readonly callIds: Set<string>;
  /** Ids of this run's open questions. */
  readonly open: Set<string>;
  /** Stream requests of the delegates' runs that this run waits for. */
  readonly delegated: Set<string>;
  /** Pauses of its calls, with their ends by `performance.now()`. */
  readonly rests: Set<{ readonly until: number }>;
  /** Waits that a previous owner of the run began and that no call has continued yet. By elicitation id. */
  readonly inheritedPauses: Map<string, PauseRecord>;
  /** The agent: its configured id, and the title that questions show to people. */
  readonly id: string;
  readonly title: string;
  /** Has its model write a text for a server. Absent without a model. */
  readonly sample?: SampleReply | undefined;
  readonly observer: Pick<TurnObserver, 'called' | 'chat' | 'traceparent'>;
  /** Set for a delegate on the turn's own pod: its calls also appear on the turn's stream. */
  readonly delegate?: { readonly agent: string; readonly callId: string };
  /** The delegating call on the turn's stream, on whichever pod the turn is. Approvals are named after it. */
  readonly shownId?: string;
  /** How many agents are between this one and the person. */
  readonly depth: number;
  readonly delegateTo: Delegate;
  readonly signal: AbortSignal;
  /** Aborted once this pod has released the run to another one, or has failed to. */
  readonly released: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** Everything a run currently waits for. */
export function waitsOf({ open, delegated, rests }: Pick<RunContext, 'open' | 'delegated' | 'rests'>): Waits {
  const next = Math.min(...[...rests].map(({ until }) => until));
  const afterMs = rests.size === 0 ? undefined : Math.max(0, Math.round(next - performance.now()));
  return { questions: [...open], runs: [...delegated], ...(afterMs !== undefined && { afterMs }) };
}

/** Notes when the run is to be continued, should it be released during a pause. */
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
    // A run that another pod continues needs it; one that goes on here would be continued too early at its next wait.
    if (!belongsToAnotherPod(signal)) rests.delete(rest);
  }
}

/** What a delegate inherits from the run that delegated, on this pod or on another one. */
export type Delegator = Pick<
  RunContext,
  'engine' | 'turn' | 'clock' | 'budget' | 'observer' | 'depth' | 'delegateTo' | 'signal' | 'onFault'
>;

/** A call by which a run delegates. */
export interface DelegatingCall {
  readonly from: RunContext;
  readonly toolCallId: string;
  /** Among how many delegates of the step the run's tokens are split. */
  readonly sharers: number;
  /** Stream request of the delegate's run, where a previous owner had made this call. */
  readonly before?: string;
  /** Saves the stream request of the delegate's run before that run begins. */
  readonly save: (streamRequestId: string) => Promise<void>;
}

export type Delegate = (call: DelegatingCall, agent: string, task: string) => Promise<ToolOutcome>;
