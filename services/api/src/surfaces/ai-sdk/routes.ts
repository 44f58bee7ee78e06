/** The chat API for AI SDK clients. Conversations are in `conversations.ts`, servers' pages in `pages.ts`. */

import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ParleyError, QUOTA_CODES } from '@parley/core/domain/errors';
import { parseReaderPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import { notFound } from '@parley/shared/domain/caller';
import { asClientShows } from '@parley/shared/domain/elicitations/client-view';
import { ChatResponseInput } from '@parley/shared/domain/elicitations/response-input';
import { toWire } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { admitAnswer, type CallLimits } from '../../http/limits/call-limits.ts';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
import { userOf } from '../../http/reply.ts';
import {
  bearer,
  json,
  jsonBody,
  type Reply,
  type Route,
  type RouteCall,
  route,
  type Surface,
} from '../../http/route.ts';
import { TURN_BROWSER_HEADERS, TURN_KEY_DOCS, turnHeaders, turnReader } from '../../http/turn-headers.ts';
import { decideTogether, endBefore } from '../../turns/approvals/continue.ts';
import { startInChat } from '../../turns/approvals/message.ts';
import { completionOf, secondsNow } from '../../turns/completion.ts';
import { encodeTurn } from '../../turns/encoder.ts';
import { type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import { conversationOf } from '../../turns/principal.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import type { startTurn } from '../../turns/start.ts';
import type { Turns } from '../../turns/turns.ts';
import { readWholeTurn } from '../../turns/whole-turn.ts';
import { approvalRoute, type DecisionPart, decisionsIn } from './approvals.ts';
import { answerIn, ChatInput } from './chat-input.ts';
import { conversationRoutes, type EraseConversation } from './conversations.ts';
import { AI_SDK_HEADERS, AI_SDK_ON_EXPIRY, createAiSdkEncoder } from './encoder.ts';
import { ANSWER_EXAMPLE, CHAT_EXAMPLE } from './examples.ts';
import { pageRoutes, readChatHeaders } from './pages.ts';
import { timelineRoute } from './timeline.ts';

export interface AiSdkDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly eraseConversation: EraseConversation;
  /** The turns of agents; absent if no agents are configured. */
  readonly turns?: Turns | undefined;
}

interface TurnDeps extends AiSdkDeps {
  readonly turns: Turns;
}

const Events = { description: 'Server-sent events', events: true } as const;

/** The chat API for AI SDK clients: answer a question, and, if there are agents, chat, resume and stop. */
export function aiSdkRoutes(deps: AiSdkDeps): Surface {
  const { turns } = deps;
  const ofTurns =
    turns === undefined
      ? []
      : [
          chatRoute({ ...deps, turns }),
          resumeRoute({ ...deps, turns }),
          stopRoute(turns),
          ...conversationRoutes({ ...deps, turns }),
          timelineRoute(turns),
          ...pageRoutes({ ...deps, turns }),
        ];
  return {
    routes: [answerRoute(deps), approvalRoute(deps), ...ofTurns],
    browserHeaders: TURN_BROWSER_HEADERS,
  };
}

function answerRoute(deps: AiSdkDeps): Route {
  return route({
    method: 'POST',
    path: '/run/api/elicitation-responses',
    proof: bearer('user'),
    body: jsonBody(ChatResponseInput),
    docs: {
      group: 'Chats',
      summary: 'Answer from a chat',
      example: ANSWER_EXAMPLE,
      replies: { 200: { description: 'Recorded', schema: Elicitation } },
      errors: ['not_found', 'invalid_answer', 'already_settled', 'expired'],
    },
    handle: (call) => answerReply(deps, call, call.body),
  });
}

function chatRoute(deps: TurnDeps): Route {
  return route({
    method: 'POST',
    path: '/run/api/chat',
    proof: bearer('user', 'chat'),
    body: jsonBody(ChatInput, { bytesMax: 'messages' }),
    docs: {
      group: 'Chats',
      summary: 'One turn of a chat',
      example: CHAT_EXAMPLE,
      description:
        'An AI SDK UI message stream, for `useChat` and others. A part `data-elicitation-response` in the last message answers a question instead. Tool parts of the assistant’s last message with the state `approval-responded` approve or deny calls, and the reply continues their turn.',
      headers: {
        ...TURN_KEY_DOCS,
        'X-Supports-Elicitation':
          '`true`, `form`, `url` or `form,url`: questions the client can show. `form;sensitive=?0`: forms without sensitive answers. With `url` alone, a form comes as a url question that leads to its page.',
        'X-Supports-Pages':
          '`true`: the client shows the pages of MCP servers (MCP Apps), where the agent has `pages: true` for the server. A part `data-tool-page` names each.',
        'X-Parley-Delivery':
          '`detach` ends the stream once all of the turn waits for the person; the answer has it go on, and the client resumes. `hold` (the default) keeps the stream for a while first.',
      },
      replies: { 200: Events },
      errors: [
        'not_found',
        'invalid_answer',
        'already_settled',
        'expired',
        'turn_running',
        'idempotency_mismatch',
        ...QUOTA_CODES,
        'pod_busy',
      ],
    },
    async handle(call) {
      const { messages, messageId, stream, agent, ...ids } = call.body;
      const conversationId = ids.conversationId ?? ids.id;
      const answer = answerIn(messages);
      if (answer !== undefined) {
        if (conversationId === undefined) throw notFound();
        return answerReply(deps, call, { ...answer, conversationId });
      }
      const { decisions, isRequest } = decisionsIn(messages, messageId);
      if (isRequest) {
        if (conversationId === undefined) throw notFound();
        return continuedReply(deps, call, conversationId, decisions);
      }
      const { caller, draining, admitted } = call;
      const options = readChatHeaders(call, stream);
      const asked = { caller, conversationId, messages, agent, ...options, draining, admitted };
      const admit = (approvalId: string) => admitAnswer(deps.limits, call, approvalId);
      const beside = { decided: { decisions, admit }, signal: call.signal };
      const start = () => startInChat(deps, asked, beside);
      return stream
        ? chatEvents(deps, call, conversationId, start)
        : wholeReply(deps, call, await start(), agent);
    },
  });
}

function chatEvents(
  deps: TurnDeps,
  { caller, whenOver, header }: Pick<RouteCall, 'caller' | 'whenOver' | 'header'>,
  conversationId: string | undefined,
  start: () => ReturnType<typeof startTurn>,
): Promise<Reply> {
  const reader = turnReader(conversationId, header);
  return inStreamPlace(deps.limits, { caller, whenOver }, reader, async (place) => {
    const { run } = await start();
    const facts = run.isRepeat ? await readReplayFacts(deps, run) : undefined;
    return eventsReply(deps, { stream: run, head: run, facts, place });
  });
}

interface TurnEventsReply extends Pick<FollowTurnOptions, 'facts' | 'after'> {
  readonly stream: StreamRef;
  readonly head: Parameters<typeof turnHeaders>[0];
  readonly place: { readonly signal: AbortSignal; readonly release: () => void };
}

async function eventsReply(
  deps: TurnDeps,
  { stream, head, facts, after, place }: TurnEventsReply,
): Promise<Reply> {
  // Clients of the AI SDK show approvals, and the questions that they declare.
  const note = deps.turns.seenNotes(stream);
  const onAsked = (asked: Parameters<typeof note>[0]) => void note(asked);
  const events = await followTurn(deps, stream, { signal: place.signal, facts, after, onAsked });
  return {
    type: 'events',
    headers: { ...AI_SDK_HEADERS, ...turnHeaders(head) },
    onExpiry: () => AI_SDK_ON_EXPIRY,
    events: encodeTurn(events, createAiSdkEncoder(after), place),
  };
}

/** Records decisions on calls, and streams the rest of the turn whose stream ended to wait for them. */
function continuedReply(
  deps: TurnDeps,
  call: Pick<RouteCall, 'caller' | 'whenOver' | 'admitted'>,
  conversationId: string,
  decisions: readonly DecisionPart[],
): Promise<Reply> {
  const caller = userOf(call.caller);
  const reader = { stream: `chat/${conversationId}`, returns: true };
  const admit = (approvalId: string) => admitAnswer(deps.limits, call, approvalId);
  return inStreamPlace(deps.limits, { caller, whenOver: call.whenOver }, reader, async (place) => {
    const decided = { caller, conversationId, decisions, surface: 'chat', admit };
    const stream = await decideTogether(deps.engine, decided);
    const ids = decisions.map(({ id }) => id);
    const after = await endBefore(deps.engine, caller, stream, ids);
    const facts = await readReplayFacts(deps, stream, after);
    return eventsReply(deps, { stream, head: { ...stream, conversationId }, facts, after, place });
  });
}

async function wholeReply(
  deps: TurnDeps,
  call: RouteCall,
  started: Awaited<ReturnType<typeof startTurn>>,
  agent: string | undefined,
): Promise<Reply> {
  const turn = await readWholeTurn(deps, started, call);
  const head = { model: agent ?? 'default', created: secondsNow() };
  return json(200, completionOf(turn, head), turnHeaders(started.run));
}

function resumeRoute(deps: TurnDeps): Route {
  return route({
    method: 'GET',
    path: '/run/api/chat/:conversationId/stream',
    proof: bearer('user'),
    opensStream: true,
    docs: {
      group: 'Chats',
      summary: 'Resume the running turn of a conversation',
      example: { reply: CHAT_EXAMPLE.reply },
      description:
        'From its start, or after Last-Event-ID, on any pod; also the end of a turn that has ended since, and all of one that was detached. 204 when there is nothing to tell.',
      headers: { 'Last-Event-ID': 'Nothing up to this event is sent again.' },
      replies: { 200: Events, 204: { description: 'Nothing to tell' } },
    },
    async handle({ caller, params, header, whenOver, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      const lastEventId = header('last-event-id') ?? '';
      const after = parseReaderPosition(lastEventId);
      if (lastEventId !== '' && after === undefined) {
        throw new ParleyError('invalid_request', 'Last-Event-ID must be the id of an event of this stream.');
      }
      await admitted;
      const stream = await deps.turns.resumable(conversation, after);
      if (stream === undefined) return { type: 'empty', status: 204 };
      const reader = { stream: `chat/${conversation.conversationId}`, returns: true };
      return inStreamPlace(deps.limits, { caller, whenOver }, reader, async (place) => {
        const facts = await readReplayFacts(deps, stream, after);
        return eventsReply(deps, { stream, head: conversation, facts, after, place });
      });
    },
  });
}

function stopRoute(turns: Turns): Route {
  return route({
    method: 'POST',
    path: '/run/api/chat/:conversationId/stop',
    proof: bearer('user'),
    docs: {
      group: 'Chats',
      summary: 'Stop the running turn of a conversation',
      example: { reply: { stopped: true } },
      description: 'On whichever pod it runs. Its open questions are withdrawn.',
      replies: {
        200: { description: 'Whether a turn ran', schema: z.object({ stopped: z.boolean() }) },
      },
    },
    async handle({ caller, params, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      await admitted;
      return json(200, { stopped: await turns.stop(conversation) });
    },
  });
}

async function answerReply(
  { engine, limits }: AiSdkDeps,
  call: Pick<RouteCall, 'caller' | 'admitted'>,
  { conversationId, elicitationId: id, ...response }: ChatResponseInput,
): Promise<Reply> {
  const caller = userOf(call.caller);
  const admitted = admitAnswer(limits, call, id);
  const answer = { caller, id, response, surface: 'chat', conversationId, admitted };
  const { row, now } = await engine.answer(answer);
  return json(200, asClientShows(toWire(row, { now, content: true })));
}
