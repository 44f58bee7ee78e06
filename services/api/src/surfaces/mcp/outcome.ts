/**
 * Collects the outcome of a call from its events, and writes it as MCP responses. Following the events is left to the callers.
 */

import { isRecord } from '@parley/core/domain/plain-record';
import { createBufferedTurn } from '../../turns/buffered.ts';
import {
  createCallResult,
  createReadResult,
  type ServerRefusal,
  type WholeResult,
} from '../../turns/call-result.ts';
import type { FollowedEvent } from '../../turns/follow.ts';
import { CALL_META_KEY } from './card.ts';
import { errorMessage, type RequestId, RPC, resultMessage } from './json-rpc.ts';

/** The kinds of calls: a turn of an agent, a single call of a tool, or a read from a server. */
export const CALL_KINDS = ['agent', 'tool', 'read'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Collects the result of a call from its events: the agent's text, or the tool's result. */
interface CallOutput {
  /** Reads the next event. Returns the result once the call has ended. */
  take(event: FollowedEvent): EndedCall | undefined;
}

/** How a call ended. */
export type EndedCall =
  | {
      readonly result: unknown;
      /** The error of the tool's server in place of a result, for clients of the same revision. */
      readonly refusal?: ServerRefusal | undefined;
    }
  /** A failed read can only be reported as an error. */
  | { readonly result?: undefined; readonly refusal: ServerRefusal };

/** The outcome for a client that cannot show a question. For a read, it is an error. */
export function toldAs(kind: CallKind, result: unknown): EndedCall {
  const { content = [] } = result as { readonly content?: readonly { readonly text?: string }[] };
  const message = content.map(({ text = '' }) => text).join('\n');
  return kind === 'read' ? { refusal: { code: RPC.internal, message } } : { result };
}

/** The response to a request in a session. */
export function responseOf({ result, refusal }: EndedCall, id: RequestId) {
  return result === undefined && refusal !== undefined
    ? errorMessage(refusal, id)
    : resultMessage(id, result);
}

/**
 * `endedAt`: when a call ended that its client may have forgotten. A note about that is added to the result, except for reads,
 * whose results have no place for text.
 */
export function createCallOutput(kind: CallKind, endedAt?: number): CallOutput {
  if (kind === 'read') return readOutput();
  const output = kind === 'agent' ? agentOutput() : toolOutput();
  if (endedAt === undefined) return output;
  return {
    take(event) {
      const ended = output.take(event);
      return ended && { ...ended, result: withNote(ended.result as WholeResult, noteOf(endedAt)) };
    },
  };
}

function noteOf(endedAt: number): string {
  return `This is the result of the same call that ended at ${new Date(endedAt).toISOString()}, and that nobody had fetched. Nothing was done again. To have it done once more, make the call again after ten seconds.`;
}

function withNote(result: WholeResult, text: string): WholeResult {
  return { ...result, content: [...result.content, { type: 'text', text }] };
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
      if (outcome === undefined) return undefined;
      return outcome.type === 'failed'
        ? { result: failed(outcome.message), refusal: outcome.refusal }
        : { result: ofServer(outcome.result) };
    },
  };
}

/**
 * Removes the `_meta` with which only Parley may address the card: with it, a server could make the card write to the chat as
 * its user.
 */
function ofServer(result: WholeResult): WholeResult {
  if (!isRecord(result._meta)) return result;
  const { [CALL_META_KEY]: _told, ..._meta } = result._meta;
  return { ...result, _meta };
}

function readOutput(): CallOutput {
  const read = createReadResult();
  return {
    take(event) {
      read.take(event);
      const { outcome } = read;
      if (outcome?.type !== 'failed') return outcome;
      const { message, refusal = { code: RPC.internal, message } } = outcome;
      return { refusal };
    },
  };
}

function failed(text: string): WholeResult {
  return { content: [{ type: 'text', text }], isError: true };
}
