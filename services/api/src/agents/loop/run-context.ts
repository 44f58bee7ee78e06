import type { Delivery, PauseRecord, RunRef, Support } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { RunWriter } from '../../../../../shared/src/runs/write.ts';
import type { Waits } from '../ownership/hand-over.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { Budget } from './budget.ts';
import type { Rest } from './idle.ts';
import type { TurnObserver } from './observer.ts';
import type { WorkClock } from './work-clock.ts';

/** What the runs of one turn share: its own, and those of the agents it delegates to. */
export interface TurnScope {
  /** The turn's own run: its stream request and its conversation take every question. */
  readonly run: RunRef;
  readonly support: Support;
  /** Tells the turn's readers something, soon. */
  readonly tell: (event: TurnEvent) => Promise<void>;
  /** Resolves once all of that is told. */
  readonly told: () => Promise<void>;
  /** Looks whether the turn was asked to stop. */
  readonly look: () => Promise<void>;
  readonly delivery: Delivery;
  /** Whether anything of it works on this pod. */
  readonly rest: Rest;
  /** Questions that were begun and have not come to an end. */
  asking: number;
}

/** A run at work. */
export interface Working {
  readonly engine: Pick<Engine, 'ask' | 'wait' | 'withdraw'>;
  readonly turn: TurnScope;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly budget: Budget;
  /** Ids of its tool calls so far; on the turn's stream those of a delegate begin with the call that delegated. */
  readonly callIds: Set<string>;
  /** Ids of the questions that this run has open. */
  readonly open: Set<string>;
  /** Stream requests of the runs that it has delegated to and waits for. */
  readonly delegated: Set<string>;
  /** Waits of the run that another pod had begun and that nobody has taken up. */
  readonly leftOpen: Map<string, PauseRecord>;
  /** The agent that works, as the configuration and as people know it; questions name it. */
  readonly id: string;
  readonly title: string;
  readonly observer: Pick<TurnObserver, 'called' | 'chat'>;
  /** The delegate whose calls are told on the turn's stream too; absent for a run that its own feed tells of. */
  readonly delegate?: { readonly agent: string; readonly callId: string };
  /** How many agents stand between this one and the person. */
  readonly depth: number;
  readonly delegateTo: Delegate;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** What all of a run waits for that waits. */
export function waitsOf({ open, delegated }: Pick<Working, 'open' | 'delegated'>): Waits {
  return { questions: [...open], runs: [...delegated] };
}

/** What a delegate has from whoever delegated, on this pod or on another one. */
export type Delegator = Pick<
  Working,
  'engine' | 'turn' | 'clock' | 'budget' | 'observer' | 'depth' | 'delegateTo' | 'signal' | 'onFault'
>;

/** A call by which a run delegates. */
export interface DelegatingCall {
  readonly from: Working;
  readonly toolCallId: string;
  /** Stream request of the run that was to do it, where another pod had begun the call. */
  readonly before?: string;
  /** Notes which run does it, before that begins. */
  readonly note: (streamRequestId: string) => Promise<void>;
}

export type Delegate = (call: DelegatingCall, agent: string, task: string) => Promise<ToolOutcome>;
