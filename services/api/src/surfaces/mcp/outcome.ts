import { createBufferedTurn } from '../../turns/buffered.ts';
import { createCallResult, type ServerRefusal, type WholeResult } from '../../turns/call-result.ts';
import type { FollowedEvent } from '../../turns/follow.ts';

/** What a call leads to: a turn of an agent, or one call of a tool of a server. */
export type CallKind = 'agent' | 'tool';

/** Collects the result of a call from its events: the agent's text, or what the tool returned. */
export interface CallOutput {
  /** Takes the next event; returns the result once the call has ended. */
  take(event: FollowedEvent): EndedCall | undefined;
}

/** How a call ended. */
export interface EndedCall {
  readonly result: WholeResult;
  /** The error of the tool's server in place of a result, for clients of its revision. */
  readonly refusal?: ServerRefusal | undefined;
}

export function createCallOutput(kind: CallKind): CallOutput {
  return kind === 'agent' ? agentOutput() : toolOutput();
}

function agentOutput(): CallOutput {
  const turn = createBufferedTurn();
  return {
    take(event) {
      turn.take(event);
      const { outcome } = turn;
      if (outcome === undefined) return undefined;
      if (outcome.type === 'turn-failed') return { result: failed(outcome.message) };
      const text = turn.text();
      if (outcome.reason === 'stopped')
        return { result: failed(text === '' ? 'The call was stopped.' : text) };
      return { result: { content: [{ type: 'text', text }] } };
    },
  };
}

function toolOutput(): CallOutput {
  const call = createCallResult();
  return {
    take(event) {
      call.take(event);
      const { outcome } = call;
      return outcome?.type === 'failed'
        ? { result: failed(outcome.message), refusal: outcome.refusal }
        : outcome;
    },
  };
}

function failed(text: string): WholeResult {
  return { content: [{ type: 'text', text }], isError: true };
}
