import type { Message, RunRef, StepRecord } from '@parley/shared/domain/runs/run';
import type { TurnObserver } from './observer.ts';

/** A text for someone other than the agent, such as a server. The model gets neither tools nor the agent's messages. */
interface SampleRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly signal: AbortSignal;
}

export type SampleReply = (
  request: SampleRequest,
  by: { readonly observer: Pick<TurnObserver, 'chat'>; readonly run: RunRef; readonly id: string },
) => Promise<{ readonly record: StepRecord }>;
