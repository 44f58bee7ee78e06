/** Serves the MCP revisions with sessions. Streams of calls are in `stream.ts`, the newer revision is in `modern/`. */

import {
  type classifyInboundRequest,
  legacyStatelessFallback,
  type McpRequestContext,
} from '@modelcontextprotocol/server';
import { isParleyError } from '@parley/core/domain/errors';
import { isRecord } from '@parley/core/domain/plain-record';
import { isClientRequestId } from '@parley/shared/elicitations/asking/client-requests';
import { admitAnswer } from '../../../http/limits/call-limits.ts';
import { inStreamPlace } from '../../../http/limits/stream-places.ts';
import { userOf } from '../../../http/reply.ts';
import { json, type Reply, type RouteCall } from '../../../http/route.ts';
import { createCardTools } from '../apps/serve.ts';
import { callOfRead } from '../call-names.ts';
import { SHOWS_NOTHING, type Shows, showsOf } from '../capabilities.ts';
import type { ReplyToAsking, RequestedRead } from '../content.ts';
import { takenBy } from '../http/accept.ts';
import { replyOf, webRequestOf } from '../http/web.ts';
import { errorMessage, type RequestId, RPC, refusal, resultMessage, rpcErrorOf } from '../json-rpc.ts';
import { recordAnswer } from '../questions.ts';
import { createMcpServer, SESSION_REVISIONS, sdkFaults } from '../server.ts';
import { createHandedOver } from './handed-over.ts';
import {
  CancelledMessage,
  InitializeMessage,
  ReadMessage,
  ResponseMessage,
  SetLevelMessage,
  ToolCallMessage,
} from './messages.ts';
import { questionOfRequest } from './misfits.ts';
import { parsePosition } from './position.ts';
import { createSessions } from './sessions.ts';
import { standaloneFrames } from './standalone.ts';
import { createSubscriptions, registerSubscriptions } from './subscriptions.ts';
import {
  awaitToolCall,
  type LegacyDeps,
  type RequestSession,
  resumeToolCall,
  shownInReply,
  streamToolCall,
} from './tool-call.ts';

export const SESSION_HEADER = 'mcp-session-id';
/** Clients of this revision and later ones may have url mode, and tools in sampling. */
const RECENT = '2025-11-25';

type LegacyReason = Extract<ReturnType<typeof classifyInboundRequest>, { kind: 'legacy' }>['reason'];

/** Serves clients of the revisions with sessions. Any pod can serve any message of a session. */
export function createLegacyServing(deps: LegacyDeps) {
  const { engine, limits, sessionMs, records, calls, progressMs, misfits, clientRequests } = deps;
  const sessions = createSessions(records, sessionMs);
  const subscriptions = createSubscriptions(deps);
  const cardTools = createCardTools(deps);
  const handedOver = createHandedOver();
  const serverOf = ({ authInfo }: McpRequestContext) => {
    const request = authInfo?.extra?.request as PlainRequest;
    const { replyToAsking, shows } = request;
    const server = createMcpServer(
      deps,
      request.call.caller,
      { showsOf: () => shows, replyToAsking, apps: shows.apps },
      {
        supportedProtocolVersions: SESSION_REVISIONS,
        capabilities: { logging: {} },
      },
    );
    const { call, session } = request;
    if (session !== undefined)
      registerSubscriptions(deps, server, { call, sessionId: session.id, handedOver });
    return server;
  };
  const plain = legacyStatelessFallback(serverOf, sdkFaults(deps.onFault));

  /** Serves a request that needs only its own message. */
  async function servePlain(
    call: RouteCall,
    { headers, replyToAsking, session, shows = SHOWS_NOTHING }: PlainOptions = {},
  ): Promise<Reply> {
    await call.admitted;
    const request = webRequestOf(call.head, call.signal);
    const served: PlainRequest = {
      call,
      session,
      shows: session?.shows ?? shows,
      replyToAsking: replyToAsking ?? replyNothing,
    };
    const authInfo = { token: '', clientId: '', scopes: [], extra: { request: served } };
    const response = await plain(request, { parsedBody: call.body, authInfo });
    // The result of a read, and so the form of the reply, is known only when the read is over.
    const takes = replyToAsking === undefined ? takenBy(call) : { json: true, events: false };
    return replyOf(response, takes, response.ok ? headers : undefined);
  }

  async function initialize(call: RouteCall): Promise<Reply> {
    const message = InitializeMessage.safeParse(call.body);
    if (!message.success) return servePlain(call);
    const { protocolVersion: asked, capabilities } = message.data.params;
    const revision = SESSION_REVISIONS.includes(asked) ? asked : SESSION_REVISIONS[0];
    await call.admitted;
    const shows = showsOf(capabilities, { isRecent: revision === RECENT });
    const id = await sessions.begin(userOf(call.caller), shows);
    return servePlain(call, { shows, headers: { [SESSION_HEADER]: id } });
  }

  /** The session that a request names, or the refusal of the request. */
  async function sessionOf(call: RouteCall): Promise<RequestSession | Reply> {
    const id = call.header(SESSION_HEADER);
    const revision = call.header('mcp-protocol-version');
    if (revision !== undefined && !SESSION_REVISIONS.includes(revision))
      return refusal(
        call,
        400,
        RPC.transport,
        `Unsupported protocol version: ${SESSION_REVISIONS.join(', ')}`,
      );
    if (id === undefined)
      return refusal(call, 400, RPC.transport, 'Send the header Mcp-Session-Id, or initialize first.');
    const user = userOf(call.caller);
    const found = await sessions.find(user, id);
    return found === undefined
      ? refusal(call, 404, RPC.sessionNotFound, 'Session not found')
      : {
          id,
          shows: { form: found.form, url: found.url, apps: found.apps === true, services: found.services },
          logLevel: () => sessions.logLevel(user, id),
          isOpen: async () => (await sessions.find(user, id)) !== undefined,
        };
  }

  async function toolCall(call: RouteCall, session: RequestSession): Promise<Reply> {
    const message = ToolCallMessage.safeParse(call.body);
    if (!message.success) return refusal(call, 200, RPC.invalidParams, 'The call is not well formed.');
    const { id, params } = message.data;
    if (!cardTools.has(params.name, session.shows)) return serveCall(call, session, message.data);
    const shows = takenBy(call).events ? session.shows : shownInReply(session.shows);
    return orError(id, async () => json(200, resultMessage(id, await cardTools.call(call, params, shows))));
  }

  async function serveCall(
    call: RouteCall,
    session: RequestSession,
    message: ToolCallMessage,
  ): Promise<Reply> {
    const serve = takenBy(call).events ? streamToolCall : awaitToolCall;
    return orError(message.id, () => serve(deps, call, session, message));
  }

  async function orError(id: RequestId, serve: () => Promise<Reply>): Promise<Reply> {
    try {
      return await serve();
    } catch (error) {
      if (!isParleyError(error)) deps.onFault(error);
      return json(200, errorMessage(rpcErrorOf(error), id));
    }
  }

  /** Serves a read, which becomes a call if its server asks. */
  async function read(call: RouteCall, session: RequestSession): Promise<Reply> {
    const { data } = ReadMessage.safeParse(call.body);
    let asked: RequestedRead | undefined;
    const reply = await servePlain(call, {
      session,
      async replyToAsking(request) {
        asked = request;
        return NOTHING;
      },
    });
    if (asked === undefined || data === undefined) return reply;
    const params = { ...data.params, ...callOfRead(asked) };
    return serveCall(call, session, { id: data.id, params, read: asked });
  }

  async function setLevel(call: RouteCall, session: RequestSession): Promise<Reply> {
    await call.admitted;
    const message = SetLevelMessage.safeParse(call.body);
    if (!message.success) return refusal(call, 200, RPC.invalidParams, 'The level is none of MCP.');
    await sessions.setLogLevel(userOf(call.caller), session.id, message.data.params.level);
    return json(200, resultMessage(message.data.id, {}));
  }

  async function answer(call: RouteCall): Promise<Reply> {
    const { id: requestId, ...sent } = ResponseMessage.parse(call.body);
    if (typeof requestId !== 'string') return ACCEPTED;
    if (isClientRequestId(requestId)) {
      await admitAnswer(limits, call, requestId);
      await clientRequests.answer(userOf(call.caller), requestId, sent);
      return ACCEPTED;
    }
    const { result } = sent;
    const id = questionOfRequest(requestId);
    const caller = userOf(call.caller);
    const admitted = admitAnswer(limits, call, id);
    const received = await recordAnswer(engine, { caller, id, result, admitted });
    if (received.type !== 'refused') return ACCEPTED;
    const stream = { ...caller, streamRequestId: received.streamRequestId };
    // A client that answers wrongly each time would otherwise wait forever.
    if (!(await misfits.note(stream, id, received.error)))
      await recordAnswer(engine, { caller, id, result: { action: 'cancel' }, admitted });
    return ACCEPTED;
  }

  async function notified(call: RouteCall, { id: sessionId }: RequestSession): Promise<Reply> {
    await call.admitted;
    const isCancel = isRecord(call.body) && call.body.method === 'notifications/cancelled';
    const message = isCancel ? CancelledMessage.safeParse(call.body) : undefined;
    if (message?.success !== true) return ACCEPTED;
    const { requestId, reason } = message.data.params;
    // A client that no longer waits has not decided anything, and its repeated call finds this one.
    if (reason !== undefined && TIMED_OUT.test(reason)) return ACCEPTED;
    const started = await calls.find(userOf(call.caller), { sessionId, id: requestId });
    if (started !== undefined) await calls.stop(started);
    return ACCEPTED;
  }

  return {
    async post(call: RouteCall, reason: LegacyReason): Promise<Reply> {
      if (reason === 'batch') return refusal(call, 400, RPC.invalidRequest, 'Batches are not supported.');
      if (reason === 'initialize') return initialize(call);
      const session = await sessionOf(call);
      if ('type' in session) return session;
      if (reason === 'response') return answer(call);
      if (reason === 'notification') return notified(call, session);
      const method = isRecord(call.body) ? call.body.method : undefined;
      if (method === 'tools/call') return toolCall(call, session);
      if (method === 'prompts/get' || method === 'resources/read') return read(call, session);
      return method === 'logging/setLevel' ? setLevel(call, session) : servePlain(call, { session });
    },
    async get(call: RouteCall): Promise<Reply> {
      await call.admitted;
      const session = await sessionOf(call);
      if ('type' in session) return session;
      const lastEventId = call.header('last-event-id') ?? '';
      if (lastEventId === '') return standalone(call, session);
      const position = parsePosition(lastEventId);
      const resumed = position && (await resumeToolCall(deps, call, session, position));
      return resumed ?? refusal(call, 400, RPC.transport, 'Last-Event-ID names no stream of this session.');
    },
    async end(call: RouteCall): Promise<Reply> {
      await call.admitted;
      const session = await sessionOf(call);
      if ('type' in session) return session;
      // The session ends first, so that none of its calls can begin again.
      await sessions.end(userOf(call.caller), session.id);
      await subscriptions.end(userOf(call.caller), session.id);
      await calls.stopAll(userOf(call.caller), session.id);
      return { type: 'empty', status: 204 };
    },
  };

  /** The stream of messages that do not belong to a request. */
  function standalone({ caller, whenOver }: RouteCall, { id, isOpen }: RequestSession): Promise<Reply> {
    const user = userOf(caller);
    const reader = { stream: `mcp/${id}/standalone`, returns: true };
    return inStreamPlace(limits, { caller, whenOver }, reader, async (place) => ({
      type: 'events',
      onExpiry: () => [],
      events: standaloneFrames({
        ...place,
        everyMs: progressMs,
        isOver: async () => !(await isOpen()),
        subscribed: async () => (deps.turns.content.offers.resources ? subscriptions.list(user, id) : []),
        onSubscribed: (listener) => subscriptions.follow(user, id, listener),
        mayHaveChanged: (uri) => handedOver.take(id, uri),
        watch: (uri, listener, until) =>
          deps.turns.content.watch({ caller, principal: user, signal: until }, uri, listener),
      }),
    }));
  }
}

/** A request that the SDK's server handles. */
interface PlainRequest {
  readonly call: RouteCall;
  readonly session: RequestSession | undefined;
  readonly shows: Shows;
  readonly replyToAsking: ReplyToAsking;
}

interface PlainOptions extends Partial<Omit<PlainRequest, 'call'>> {
  readonly headers?: Readonly<Record<string, string>>;
}

// In place of a reply that is not sent.
const NOTHING = { messages: [], contents: [] };
const replyNothing: ReplyToAsking = async () => NOTHING;

const ACCEPTED: Reply = { type: 'empty', status: 202 };
// Reasons that clients give when they have stopped waiting.
const TIMED_OUT = /\btime(?:d)?[ -]?out\b/i;
