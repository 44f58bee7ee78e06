import { z } from 'zod';
import type { McpLimits } from '../limits.ts';
import type { SendRequest } from '../request.ts';
import type { ServerTarget } from '../target.ts';
import { failureOf } from './failure.ts';
import type { McpReadResult } from './results.ts';

/** Requests of MCP that read. They ask nobody and may be repeated. */
export type ReadMethod =
  | 'prompts/list'
  | 'prompts/get'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'completion/complete';

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Sends a request to a server, and returns its result. */
export type ReadFromServer = (
  target: ServerTarget,
  method: ReadMethod,
  params: Readonly<Record<string, unknown>>,
  options: ReadOptions,
) => Promise<McpReadResult>;

const CAPABILITIES = {
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'completion/complete': 'completions',
} as const satisfies Record<ReadMethod, string>;

const Result = z.looseObject({});
// The exchange ends the request. This ends the request of the SDK, in case it does not follow its signal.
const MARGIN_MS = 1_000;

/** Rejects only when the caller aborts, with the signal's reason. */
export function createReader(sendRequest: SendRequest, limits: McpLimits): ReadFromServer {
  return async (target, method, params, { signal, timeoutMs = limits.callTimeoutMs }) => {
    const reply = await sendRequest(
      target,
      { timeoutMs, signal, isRepeatable: () => true },
      async ({ client }, exchange) =>
        client.getServerCapabilities()?.[CAPABILITIES[method]] === undefined
          ? undefined
          : client.request({ method, params }, Result, {
              timeout: timeoutMs + MARGIN_MS,
              signal: exchange.signal,
            }),
    );
    if ('error' in reply) return failureOf(reply.error, reply.dispatched);
    if (reply.value === undefined) return { type: 'absent' };
    return { type: 'read', result: reply.value };
  };
}
