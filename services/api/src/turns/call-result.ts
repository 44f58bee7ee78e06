import { isParleyError } from '@parley/core/domain/errors';
import { isRecord } from '@parley/core/domain/plain-record';
import { endsTurn } from '@parley/shared/domain/runs/turn-events';
import { RefusedByServer } from '../agents/mcp/refused-by-server.ts';
import type { ServerRefusal } from '../agents/mcp/results.ts';
import { parseOneCallId } from '../agents/run/one-call.ts';
import type { FollowedEvent } from './follow.ts';

export type { ServerRefusal };

/** The MCP server's refusal of a request, for a caller that speaks MCP. Undefined for any other error. */
export function serverRefusalOf(error: unknown): ServerRefusal | undefined {
  return isParleyError(error) && error.cause instanceof RefusedByServer ? error.cause.refusal : undefined;
}

/** True for the id that a single-call run has in place of an agent's id. */
export function isOneCall(agent: string): boolean {
  return parseOneCallId(agent) !== undefined;
}

/** The result of a tool as its MCP server sent it (`CallToolResult`). */
export interface WholeResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: unknown;
}

/** How a single-call run ended. */
export type CallOutcome<Result = WholeResult> =
  | { readonly type: 'result'; readonly result: Result }
  /** There is no result. `message` is for people; `code` is that of the turn's failure, `call_failed` or `stopped`. */
  | {
      readonly type: 'failed';
      readonly code: string;
      readonly message: string;
      /** The server's error, if it sent one. */
      readonly refusal?: ServerRefusal | undefined;
    };

/** Collects the result of a single-call run from its events. */
interface CallResult<Result = WholeResult> {
  /** Reads the next event of the turn. Returns true once the turn has ended. */
  take(event: FollowedEvent): boolean;
  /** How the run ended; undefined while it runs. */
  readonly outcome: CallOutcome<Result> | undefined;
}

const STOPPED: CallOutcome<never> = { type: 'failed', code: 'stopped', message: 'The call was stopped.' };

export function createCallResult(): CallResult {
  return collectResult(resultOf);
}

/** Collects the result of a read, as its server sent it, from the events of its run. */
export function createReadResult(): CallResult<unknown> {
  return collectResult((output) => output);
}

function collectResult<Result>(shape: (output: unknown) => Result): CallResult<Result> {
  let called: CallOutcome<Result> | undefined;
  let outcome: CallOutcome<Result> | undefined;
  return {
    get outcome() {
      return outcome;
    },
    take(followed) {
      if (outcome !== undefined) return true;
      if (followed.type === 'lost') called = undefined;
      if (followed.type !== 'turn') return false;
      const { event } = followed;
      if (event.type === 'tool-returned') called = { type: 'result', result: shape(event.output) };
      if (event.type === 'tool-failed')
        called = { type: 'failed', code: 'call_failed', message: event.message, refusal: event.refusal };
      if (!endsTurn(event)) return false;
      const { code, message } = event as { readonly code?: string; readonly message?: string };
      outcome =
        event.type === 'turn-failed' && code !== undefined && message !== undefined
          ? { type: 'failed', code, message }
          : (called ?? STOPPED);
      return true;
    },
  };
}

/** Parley's own tools, such as the one that connects an account, return text. */
function resultOf(output: unknown): WholeResult {
  if (isRecord(output) && Array.isArray(output.content)) return { ...output, content: output.content };
  return { content: [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output) }] };
}
