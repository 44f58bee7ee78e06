/** Answers one request of a call in revision 2026-07-28. Following the call is in `rounds.ts`. */

import {
  type CallToolResult,
  inputRequired,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { isRecord } from '@parley/core/domain/plain-record';
import { inStreamPlace } from '../../../http/limits/stream-places.ts';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import { podDraining } from '../../../turns/start.ts';
import { callOfRead, keyOfCall } from '../call-names.ts';
import type { Calls, FoundTarget, StartedCall } from '../calls.ts';
import { showsOfEnvelope, supportOf } from '../capabilities.ts';
import type { RequestedRead } from '../content.ts';
import type { McpDeps } from '../deps.ts';
import { RPC } from '../json-rpc.ts';
import { toldAs } from '../outcome.ts';
import { createProgress, type ProgressToken } from '../progress.ts';
import { inputRequestsOf } from '../questions.ts';
import { type CallRound, followRound } from '../rounds.ts';
import { protocolErrorOf } from '../server.ts';
import { knowsTasks, taskAfterMs, tasksMissing, unknownTask } from '../tasks/extension.ts';
import { readTask } from '../tasks/task.ts';
import { recordAnswers } from '../waiting/answers.ts';
import { checkParamHeaders } from './param-headers.ts';
import type { CallState, createCallState } from './state.ts';

interface ToolCallDeps extends McpDeps {
  readonly calls: Calls;
  readonly state: ReturnType<typeof createCallState>;
  /** Ends the round of this request, but not its call. */
  readonly served: AbortSignal;
}

interface ToolCallParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Present for a read that is served as a call. */
  readonly read?: RequestedRead;
}

/**
 * Serves one request of a tool call. The first request begins the call. A later one names the call by `requestState`, and may
 * contain answers. Replies with the result, with the questions of the call (`input_required`), or with the call as a task. A
 * client that closes its request cancels the call; a draining pod, an expired token and a lost stream place do not.
 */
export async function answerToolCall(
  deps: ToolCallDeps,
  call: RouteCall,
  params: ToolCallParams,
  ctx: ServerContext,
) {
  const { signal } = ctx.mcpReq;
  const now = await deps.records.now(userOf(call.caller));
  const resumed = ctx.mcpReq.requestState<CallState>();
  const at = resumed?.at ?? now;
  const { form, url, apps } = showsOfEnvelope(ctx.mcpReq.envelope);
  const shows = resumed?.shows ?? { form, url };
  let started: StartedCall | undefined;
  try {
    started = await startedCall(deps, call, params, ctx);
    const afterMs = taskAfterMs(started.task, knowsTasks(ctx.mcpReq.envelope));
    const expiresInMs = (call.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
    const round =
      afterMs === 0
        ? STILL_OPEN
        : await followRound(deps, started, {
            shows,
            tool: apps ? params.name : undefined,
            came: { at, here: performance.now() - (now - at) },
            signal: AbortSignal.any([signal, deps.served]),
            waitMs: Math.min(deps.roundMs, expiresInMs, afterMs ?? Number.POSITIVE_INFINITY),
            onProgress: progressSender(ctx, now - at),
          });
    signal.throwIfAborted();
    if (afterMs !== undefined && (round.type === 'open' || round.type === 'told'))
      return await taskOf(deps, started, ctx);
    return await resultOfRound(deps, { ...started, at, shows }, round, ctx);
  } catch (error) {
    throw signal.aborted ? error : protocolErrorOf(error, deps.onFault);
  } finally {
    if (signal.aborted && started !== undefined) await deps.calls.leave(started);
  }
}

/** Serves one request of a read during which its server asks, like a tool call. It takes one of the user's stream places. */
export function answerRead(deps: ToolCallDeps, call: RouteCall, read: RequestedRead, ctx: ServerContext) {
  const reader = { stream: 'mcp', returns: false };
  return inStreamPlace(deps.limits, call, reader, async (place) => {
    const params = { ...callOfRead(read), read };
    return answerToolCall({ ...deps, served: place.signal }, call, params, ctx).finally(place.release);
  });
}

const STILL_OPEN: CallRound = { type: 'open' };

/** Gives the client the call as a task. The client gets the details of its state from `tasks/get`. */
async function taskOf(deps: ToolCallDeps, started: StartedCall, ctx: ServerContext): Promise<CallToolResult> {
  await deps.calls.handOver(started);
  const task = await readTask(deps, started.run, showsOfEnvelope(ctx.mcpReq.envelope));
  if (task === undefined) throw unknownTask();
  const { head, state } = task;
  // The SDK's types only contain the core's results.
  return { resultType: 'task', ...head, status: state.status } as unknown as CallToolResult;
}

async function startedCall(
  deps: ToolCallDeps,
  call: RouteCall,
  { name, arguments: args = {}, read }: ToolCallParams,
  ctx: ServerContext,
): Promise<StartedCall> {
  const caller = userOf(call.caller);
  const support = supportOf(showsOfEnvelope(ctx.mcpReq.envelope));
  const check = (target: FoundTarget) => {
    if (target.task?.mode === 'required' && !knowsTasks(ctx.mcpReq.envelope)) throw tasksMissing();
    checkParamHeaders(target, args, call.header);
  };
  const { clientId } = call;
  const named = { caller, name, arguments: args, read, support, clientId, check, signal: ctx.mcpReq.signal };
  await call.admitted;
  const resumed = ctx.mcpReq.requestState<CallState>();
  if (resumed === undefined) {
    if (call.draining) throw podDraining();
    return deps.calls.begin({ ...named, delivery: 'detach' });
  }
  const started = await deps.calls.resume(named, resumed.call);
  // Questions whose answers do not fit stay open and are asked again.
  await recordAnswers(deps, call, started.run, ctx.mcpReq.inputResponses ?? {});
  return started;
}

async function resultOfRound(
  { calls, state }: ToolCallDeps,
  call: StartedCall & Required<Pick<CallState, 'at' | 'shows'>>,
  round: CallRound,
  ctx: ServerContext,
) {
  if (round.type === 'result') {
    await calls.release(call);
    const { refusal } = round;
    if (refusal !== undefined) throw new ProtocolError(refusal.code, refusal.message, refusal.data);
    // This is the tool's own result, whose form the SDK checks.
    return round.result as CallToolResult;
  }
  if (round.type === 'told') {
    const { result, refusal } = toldAs(call.kind, round.result);
    if (refusal !== undefined) throw new ProtocolError(refusal.code, refusal.message);
    return result as CallToolResult;
  }
  if (round.type === 'gone') throw new ProtocolError(RPC.invalidParams, 'Invalid or expired requestState');
  const { questions, requests } = round.type === 'asks' ? round : { questions: [], requests: [] };
  const ends = [
    // An operator may move a deadline up to this time, and the client keeps its state until then.
    ...questions.map(({ createdAt }) => Date.parse(createdAt) + TIMEOUT_SECONDS_MAX * 1000),
    ...requests.map(({ expiresAt }) => expiresAt),
  ];
  const { at, shows } = call;
  const requestState = await state.mint({ call: keyOfCall(call.run), at, shows }, ends, ctx);
  const inputRequests = inputRequestsOf(questions, requests);
  if (Object.keys(inputRequests).length === 0) return inputRequired({ requestState });
  return inputRequired({ inputRequests, requestState });
}

/** Sends progress if the client asked for it. */
function progressSender(ctx: ServerContext, ageMs: number): (message: string) => void {
  const token = isRecord(ctx.mcpReq._meta) ? ctx.mcpReq._meta.progressToken : undefined;
  const progress = createProgress(token as ProgressToken | undefined, ageMs);
  return (message) => {
    const next = progress.next(message);
    if (next !== undefined) ctx.mcpReq.notify(next).catch(() => undefined);
  };
}
