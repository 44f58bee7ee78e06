import type { RunContext } from './run-context.ts';
import type { CallEvent } from './tool.ts';

/** An event of a delegate's call, as it appears on the stream of the run whose call `callId` delegated. */
export function forwardedEvent(event: CallEvent, agent: string, callId: string): CallEvent {
  const toolCallId = `${callId}.${event.toolCallId}`;
  // Events of the delegate's own delegates already name their agent.
  return event.type === 'tool-called' ? { agent, ...event, toolCallId } : { ...event, toolCallId };
}

/** The id that a call of the run has on the turn's stream. */
export function shownCallId({ shownId }: Pick<RunContext, 'shownId'>, toolCallId: string): string {
  return shownId === undefined ? toolCallId : `${shownId}.${toolCallId}`;
}

/** The id of a call on the stream that this pod writes: the stream of the turn, or that of a delegate for another pod. */
export function turnCallId({ delegate }: RunContext, toolCallId: string): string {
  return delegate === undefined ? toolCallId : `${delegate.callId}.${toolCallId}`;
}
