/** Serves single requests of revision 2026-07-28. Calls are in `call.ts`, subscriptions in `listen.ts`. */

import { createMcpHandler, type McpRequestContext } from '@modelcontextprotocol/server';
import { isRecord } from '@parley/core/domain/plain-record';
import { releaseOnAbort } from '@parley/shared/async/release-on-abort';
import { CALL_OVER } from '../../../http/life/request-life.ts';
import { inStreamPlace } from '../../../http/limits/stream-places.ts';
import { userOf } from '../../../http/reply.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { principalOf } from '../../../turns/principal.ts';
import { createCardTools } from '../apps/serve.ts';
import { isCardTool } from '../apps/tools.ts';
import { callDigest } from '../call-names.ts';
import type { Calls } from '../calls.ts';
import { type Shows, showsOfEnvelope } from '../capabilities.ts';
import type { RequestedRead } from '../content.ts';
import type { McpDeps } from '../deps.ts';
import { noEvents, takenBy } from '../http/accept.ts';
import { replyOf, webRequestOf } from '../http/web.ts';
import { RPC } from '../json-rpc.ts';
import { createMcpServer, guardedBy, type ServedClient, sdkFaults } from '../server.ts';
import { TASKS } from '../tasks/extension.ts';
import { serveTasks } from '../tasks/serve-tasks.ts';
import { answerRead, answerToolCall } from './call.ts';
import { beginListening, isListening, refusalOfListening } from './listen.ts';
import { createCallState } from './state.ts';

/** Serves requests of revision 2026-07-28 separately, so any pod can serve each of them. */
export function createModernServing(deps: McpDeps, calls: Calls) {
  const cardTools = createCardTools(deps);
  const guarded = guardedBy(deps.onFault);
  const serverOf = ({ authInfo }: McpRequestContext) => {
    const request = authInfo?.extra?.request as ServedRequest;
    const { call, served } = request;
    const caller = userOf(call.caller);
    const owner = principalOf(caller);
    const state = createCallState({
      keys: deps.stateKeys,
      owner,
      digest: digestOf(call.body),
      now: () => deps.records.now(owner),
    });
    const callDeps = { ...deps, calls, state, served };
    const client: ServedClient = {
      showsOf: ({ mcpReq }) => showsOfEnvelope(mcpReq.envelope),
      replyToAsking: (read, ctx) => answerRead(callDeps, call, read, ctx),
      apps: showsOfBody(call.body).apps,
    };
    const server = createMcpServer(deps, caller, client, {
      requestState: { verify: state.verify },
      capabilities: { extensions: { [TASKS]: {} } },
    });
    serveTasks(server, { ...deps, calls }, call);
    server.setRequestHandler('tools/call', ({ params }, ctx) => {
      const shows = showsOfEnvelope(ctx.mcpReq.envelope);
      return cardTools.has(params.name, shows)
        ? guarded(ctx.mcpReq.signal, () => cardTools.call(call, params, shows))
        : answerToolCall(callDeps, call, params, ctx);
    });
    return server;
  };
  const options = { legacy: 'reject', onerror: sdkFaults(deps.onFault) } as const;
  const handler = createMcpHandler(serverOf, options);

  return async (call: RouteCall): Promise<Reply> => {
    const { body } = call;
    const serve = (served: AbortSignal, parsedBody: unknown = body) =>
      handler.fetch(webRequestOf(call.head, mayAsk(body) ? disconnectOf(call) : served), {
        parsedBody,
        authInfo: { token: '', clientId: '', scopes: [], extra: { request: { call, served } } },
      });
    const takes = takenBy(call);
    if (isListening(body) && !takes.events) return noEvents(call);
    if (!isLong(body)) return endingItself(body, await replyOf(await serve(call.signal), takes));
    const reader = { stream: 'mcp', returns: false };
    const refused = refusalOfListening(deps, call);
    if (refused !== undefined) return refused;
    return inStreamPlace(deps.limits, call, reader, async (place) => {
      const listening = isListening(body)
        ? await beginListening({ ...deps, calls }, call, place.signal)
        : undefined;
      if (listening !== undefined) releaseOnAbort(place.signal, listening.release);
      const reply = refusedBeforehand(await replyOf(await serve(place.signal, listening?.body), takes));
      if (reply.type !== 'pieces') {
        listening?.release();
        place.release();
      }
      if (reply.type === 'pieces' && listening !== undefined)
        return { ...reply, pieces: listening.stream(reply.pieces) };
      return endingItself(body, reply);
    });
  };
}

/**
 * Lets the reply of a call end by itself: it returns its state when the pod drains or the token expires, and the client
 * continues with another request.
 */
function endingItself(body: unknown, reply: Reply): Reply {
  return reply.type === 'pieces' && mayAsk(body) ? { ...reply, endsItself: true } : reply;
}

/** Sets the status 400 for a header mismatch. The SDK does this only for mismatches that it finds itself. */
function refusedBeforehand(reply: Reply): Reply {
  if (reply.type !== 'json' || !isRecord(reply.body)) return reply;
  const { error } = reply.body;
  return isRecord(error) && error.code === RPC.headerMismatch ? { ...reply, status: 400 } : reply;
}

interface ServedRequest {
  readonly call: RouteCall;
  /** Aborted when the client disconnects, the pod drains, or another reader takes over this one's stream place. */
  readonly served: AbortSignal;
}

/** Aborted only when the client disconnects, which cancels a call. A draining pod or a lost place does not cancel it. */
function disconnectOf(call: RouteCall): AbortSignal {
  const disconnect = new AbortController();
  call.whenOver(() => call.draining || disconnect.abort(CALL_OVER));
  return disconnect.signal;
}

/** True for requests that may take as long as a person needs. */
function isLong(body: unknown): boolean {
  return (isToolCall(body) && !isOfCard(body)) || isListening(body);
}

/** True for a call of the card, which gets its reply at once. */
function isOfCard(body: unknown): boolean {
  return isCardTool(paramsOf(body).name) && showsOfBody(body).apps;
}

/** The capabilities that the client declares in its request. */
function showsOfBody(body: unknown): Shows {
  const { _meta: meta } = paramsOf(body);
  return showsOfEnvelope(isRecord(meta) ? meta : undefined);
}

function isToolCall(body: unknown): boolean {
  return isRecord(body) && body.method === 'tools/call';
}

/** True for requests that become a call if their server asks. */
function mayAsk(body: unknown): boolean {
  return isToolCall(body) || (isRecord(body) && READS.includes(String(body.method)));
}

const READS: readonly string[] = [
  'prompts/get',
  'resources/read',
] satisfies readonly RequestedRead['method'][];

function paramsOf(body: unknown): Readonly<Record<string, unknown>> {
  return isRecord(body) && isRecord(body.params) ? body.params : {};
}

/** A digest of the requested call. */
function digestOf(body: unknown): string {
  const { name, arguments: args, uri } = paramsOf(body);
  if (isToolCall(body) || !mayAsk(body) || !isRecord(body)) return callDigest(String(name), args ?? {});
  return callDigest(String(body.method), { name, args, uri }, { isRead: true });
}
