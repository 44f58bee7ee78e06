/**
 * Reads from servers that may ask during a read. A read without questions is made directly, one with questions becomes a run.
 */

import { z } from 'zod';
import { createScoping } from '../../mcp/calls/addresses.ts';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import type { AskingReadMethod } from '../../mcp/calls/read-request.ts';
import { DEFAULT_MCP_LIMITS } from '../../mcp/limits.ts';
import { QuestionRefused } from '../../mcp/questions/question.ts';
import type { McpFailure, McpReadResult, McpRound } from '../../mcp/results.ts';
import { withoutReturned } from '../../mcp/transports/door.ts';
import type { ServerRead } from '../../run/one-call.ts';
import { failed, type ToolOutcome } from '../../run/tool.ts';
import { outcomeOf } from '../server-tools.ts';

type Params = Readonly<Record<string, unknown>>;

interface FirstReadOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The server asked the person during a read, so the read was ended. */
export interface AsksDuringRead {
  readonly type: 'asks';
}

/** The input of a single-call run that reads. */
export const ReadInput = z.object({
  /** The parameters in the server's own names. */
  params: z.record(z.string(), z.unknown()),
  /** True if the client's address contained the server. The addresses in the reply then contain it, too. */
  isScoped: z.boolean(),
});

const INVALID_PARAMS = -32602;

/**
 * Reads from a server that may ask. Its first question ends the request: nobody is asked and nothing is recorded. Rejects only
 * with the reason of the signal.
 */
export async function readUnlessAsked(
  server: McpServerRef,
  method: AskingReadMethod,
  params: Params,
  { signal, timeoutMs }: FirstReadOptions,
): Promise<McpReadResult | AsksDuringRead> {
  const asked = new AbortController();
  const leave = () => {
    asked.abort();
    throw new QuestionRefused('The request is made again with somebody who can be asked.');
  };
  const asker = { ask: async () => leave(), visit: async () => leave() };
  const ending = AbortSignal.any([signal, asked.signal]);
  const options = { signal: ending, timeoutMs, ...(server.modes !== undefined && { asker }) };
  try {
    const result = await server.read(method, params, options);
    return result.type === 'round' || asked.signal.aborted ? { type: 'asks' } : result;
  } catch (error) {
    if (signal.aborted || !asked.signal.aborted) throw error;
    return { type: 'asks' };
  }
}

/** A reply whose addresses contain the server if the client's address did. In prompts they always do. */
export function scopedReply<Reply extends { readonly type: string }>(
  { server, read }: ServerRead,
  reply: Reply | Extract<McpReadResult, { type: 'read' }>,
  isScoped: boolean,
): typeof reply {
  if (reply.type !== 'read' || !('result' in reply) || !isScoped) return reply;
  const scoping = createScoping(server);
  const result = read === 'prompts/get' ? scoping.prompt(reply.result) : scoping.contents(reply.result);
  return { type: 'read', result };
}

/** The result of a read without the server's caching advice, which is meant for its own clients. */
export function passedOn(result: Params): Params {
  const { ttlMs: _ttl, cacheScope: _scope, resultType: _type, _meta, ...rest } = result;
  return withoutReturned(rest);
}

/** The outcome of a read that is the only call of its run. */
export function readOutcomeOf(title: string, result: McpReadResult | McpRound | McpFailure): ToolOutcome {
  switch (result.type) {
    case 'read': {
      const output = passedOn(result.result);
      const { resultBytesMax } = DEFAULT_MCP_LIMITS;
      return Buffer.byteLength(JSON.stringify(output)) > resultBytesMax
        ? failed(`What ${title} returned is larger than ${resultBytesMax} bytes.`)
        : { type: 'returned', output };
    }
    case 'absent': {
      const message = 'There is no such prompt or resource.';
      return { type: 'failed', message, refusal: { code: INVALID_PARAMS, message } };
    }
    case 'refused':
    case 'input_required': {
      const outcome = outcomeOf(title, result);
      const { refusal } = result;
      return outcome.type === 'failed' && refusal !== undefined ? { ...outcome, refusal } : outcome;
    }
    default:
      return outcomeOf(title, result);
  }
}
