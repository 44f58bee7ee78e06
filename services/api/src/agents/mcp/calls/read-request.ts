import { isInputRequiredResult, ProtocolError, withInputRequired } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { failureOf } from '../failure.ts';
import type { McpLimits } from '../limits.ts';
import { sendAsking } from '../questions/required-pages.ts';
import type { SendRequest } from '../request.ts';
import type { McpReadResult, McpRound } from '../results.ts';
import { neededAfter } from '../revisions/evidence.ts';
import type { RevisionReply } from '../revisions/needed.ts';
import type { McpRevision } from '../server-config.ts';
import type { ServerTarget } from '../target.ts';
import { type McpCallOptions, roundOf } from './call.ts';

/** Requests during which a server may ask the person. They may be repeated nevertheless. */
export type AskingReadMethod = 'prompts/get' | 'resources/read';

/** MCP requests that only read. They may be repeated. */
export type ReadMethod =
  | AskingReadMethod
  | 'prompts/list'
  | 'resources/list'
  | 'resources/templates/list'
  | 'completion/complete';

/** With an asker, the server may ask during the request. */
export type ReadOptions = Pick<McpCallOptions, 'signal' | 'timeoutMs' | 'asker' | 'answers'>;

/** Sends a request to a server. Returns its result, or the questions that the server asks first. */
type ReadFromServer = (
  target: ServerTarget,
  method: ReadMethod,
  params: Readonly<Record<string, unknown>>,
  options: ReadOptions,
) => Promise<RevisionReply<McpReadResult | McpRound>>;

const CAPABILITIES = {
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'completion/complete': 'completions',
} as const satisfies Record<ReadMethod, string>;

const Result = withInputRequired(z.looseObject({}));
// The margin of the SDK's timeout. The exchange ends the request; the SDK's timeout is for the case that it ignores its signal.
const MARGIN_MS = 1_000;
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

interface ReaderDeps {
  readonly sendRequest: SendRequest;
  readonly limits: McpLimits;
  /** Excludes the target's connection from further requests. */
  readonly retire: (target: ServerTarget) => void;
}

/** Rejects only when the caller aborts, with the signal's reason. */
export function createReader({ sendRequest, limits, retire }: ReaderDeps): ReadFromServer {
  return async (target, method, params, { signal, timeoutMs = limits.callTimeoutMs, asker, answers }) => {
    const bounds = { timeoutMs, signal, isRepeatable: () => true };
    // With an asker, the exchange alone ends the request, because its clock is paused while the person thinks.
    const timeout = asker === undefined ? timeoutMs + MARGIN_MS : SDK_TIMEOUT_MS;
    let revision: McpRevision | undefined;
    try {
      const reply = await sendRequest(target, bounds, async (connection, exchange) => {
        const { client, questions } = connection;
        revision = connection.revision;
        if (client.getServerCapabilities()?.[CAPABILITIES[method]] === undefined) return undefined;
        const options = { timeout, signal: exchange.signal, allowInputRequired: asker !== undefined };
        const send = () => client.request({ method, params: { ...params, ...answers } }, Result, options);
        return sendAsking(send, { asker, exchange, questions, modes: target.modes });
      });
      if ('error' in reply) {
        const { error } = reply;
        // A read has no effect, so it may be repeated even after questions were asked.
        const need =
          asker === undefined
            ? undefined
            : neededAfter(error, revision, { isRepeatable: bounds.isRepeatable, hasAsked: false });
        // Late questions of the server must not reach the next request. That request may also need another revision.
        if (need !== undefined || !(error instanceof ProtocolError)) forget(target);
        return { result: failureOf(error, reply.dispatched), need };
      }
      if (reply.value === undefined) return { result: { type: 'absent' } };
      if (isInputRequiredResult(reply.value)) return { result: roundOf(reply.value, limits.roundBytesMax) };
      return { result: { type: 'read', result: reply.value } };
    } catch (error) {
      forget(target);
      throw error;
    }
  };

  function forget(target: ServerTarget): void {
    if (target.modes !== undefined) retire(target);
  }
}
