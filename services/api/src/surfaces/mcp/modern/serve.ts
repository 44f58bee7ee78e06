import { createMcpHandler, type McpRequestContext } from '@modelcontextprotocol/server';
import { isRecord } from '@parley/shared/domain/plain-record';
import { inStreamPlace } from '../../../http/limits/stream-places.ts';
import { userOf } from '../../../http/reply.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { principalOf } from '../../../turns/principal.ts';
import { noEvents, takenBy } from '../accept.ts';
import { callDigest } from '../call-names.ts';
import type { Calls } from '../calls.ts';
import { showsOfEnvelope } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { RPC } from '../json-rpc.ts';
import { createMcpServer, sdkFaults } from '../server.ts';
import { replyOf, webRequestOf } from '../web.ts';
import { answerToolCall } from './call.ts';
import { createCallState } from './state.ts';

/** Serves requests of revision 2026-07-28, each by itself: any pod serves any of them. */
export function createModernServing(deps: McpDeps, calls: Calls) {
  const serverOf = ({ authInfo }: McpRequestContext) => {
    const request = authInfo?.extra?.request as ServedRequest;
    const { call, served } = request;
    const caller = userOf(call.caller);
    const { name, args } = toolCallOf(call.body);
    const owner = principalOf(caller);
    const state = createCallState({
      keys: deps.stateKeys,
      owner,
      digest: callDigest(name, args),
      now: () => deps.records.now(owner),
    });
    const server = createMcpServer(deps, caller, ({ mcpReq }) => showsOfEnvelope(mcpReq.envelope), {
      requestState: { verify: state.verify },
    });
    server.setRequestHandler('tools/call', (request, ctx) =>
      answerToolCall({ ...deps, calls, state, served }, call, request.params, ctx),
    );
    return server;
  };
  const handler = createMcpHandler(serverOf, { legacy: 'reject', onerror: sdkFaults(deps.onFault) });

  return async (call: RouteCall): Promise<Reply> => {
    const { caller, signal, body } = call;
    const serve = (served: AbortSignal) =>
      handler.fetch(webRequestOf(call.head, isToolCall(body) ? disconnectOf(call) : served), {
        parsedBody: body,
        authInfo: { token: '', clientId: '', scopes: [], extra: { request: { call, served } } },
      });
    const takes = takenBy(call);
    if (isListening(body) && !takes.events) return noEvents(call);
    if (!isLong(body)) return replyOf(await serve(signal), takes);
    const reader = { stream: 'mcp', returns: false };
    return inStreamPlace(deps.limits, { caller, signal }, reader, async (place) => {
      const reply = refusedBeforehand(await replyOf(await serve(place.signal), takes));
      if (reply.type !== 'pieces') place.release();
      // A call returns its state when the pod drains or the token expires; its client continues with another request.
      return reply.type === 'pieces' && isToolCall(body) ? { ...reply, endsItself: true } : reply;
    });
  };
}

/** The SDK knows its own mismatches alone, and replies with 200 to those of Parley. */
function refusedBeforehand(reply: Reply): Reply {
  if (reply.type !== 'json' || !isRecord(reply.body)) return reply;
  const { error } = reply.body;
  return isRecord(error) && error.code === RPC.headerMismatch ? { ...reply, status: 400 } : reply;
}

interface ServedRequest {
  readonly call: RouteCall;
  /** Aborted when the client disconnects, the pod drains, or another reader took the place of this one. */
  readonly served: AbortSignal;
}

/** The client's disconnecting alone, which cancels a call: a pod that drains or a lost place cancels none. */
function disconnectOf(call: RouteCall): AbortSignal {
  const disconnect = new AbortController();
  call.signal.addEventListener('abort', () => call.draining || disconnect.abort(), { once: true });
  if (call.signal.aborted && !call.draining) disconnect.abort();
  return disconnect.signal;
}

/** True for requests that may take as long as a person thinks. */
function isLong(body: unknown): boolean {
  return isToolCall(body) || isListening(body);
}

function isListening(body: unknown): boolean {
  return isRecord(body) && body.method === 'subscriptions/listen';
}

function isToolCall(body: unknown): boolean {
  return isRecord(body) && body.method === 'tools/call';
}

function toolCallOf(body: unknown): { readonly name: string; readonly args: unknown } {
  const params = isRecord(body) && isRecord(body.params) ? body.params : {};
  return { name: String(params.name), args: params.arguments ?? {} };
}
