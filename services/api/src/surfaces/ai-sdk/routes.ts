import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/shared/domain/errors';
import { parseFeedPosition } from '@parley/shared/domain/events';
import { isReferenceId, type Owner } from '@parley/shared/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import { type Caller, notFound } from '@parley/shared/elicitations/caller';
import { z } from 'zod';
import { type AdmitAnswer, userOf } from '../../http/reply.ts';
import { type Call, json, type Reply, type Route, route } from '../../http/route.ts';
import { answerFromChat } from '../../turns/answer.ts';
import { completionOf, createBufferedTurn, type Failed } from '../../turns/buffered.ts';
import { type ReplayFacts, scanOf, streamTurn, type TurnStreamDeps, wholeTurn } from '../../turns/follow.ts';
import { deliveryOf, supportOf } from '../../turns/negotiate.ts';
import type { BegunTurn, Turns } from '../../turns/turns.ts';
import { createOpenAiEncoder, type OpenAiOptions } from '../openai/encoder.ts';
import { answerIn, beforeOf, ChatInput, type ChatMessage, CompletionInput, inputOf } from './chat-input.ts';
import { AI_SDK_HEADERS, createAiSdkEncoder } from './encoder.ts';
import { CONVERSATION_HEADER, encoderForReturn, repeatableOf, turnHeaders } from './repeats.ts';

export interface TurnRoutesDeps extends TurnStreamDeps {
  readonly turns: Turns;
  readonly admitAnswer: AdmitAnswer;
  /** How text is told in the OpenAI format. */
  readonly openAiSteps: OpenAiOptions['steps'];
}

/** No user has this name: turns of a service key belong to the key's tenant and to nobody. */
const SERVICE_PRINCIPAL = '\u0000service';
const SUPPORT_HEADER = 'x-supports-elicitation';
const DELIVERY_HEADER = 'x-parley-delivery';
const KEY_HEADER = {
  'Idempotency-Key':
    'The same key with the same message leads to the same turn: a repeat gets it from its first event, with `Idempotent-Replayed: true`.',
} as const;
const Events = { description: 'Server-sent events', events: true } as const;

/** The chat API under /run: one turn in, one stream out, in two formats; resume and stop. */
export function turnRoutes(deps: TurnRoutesDeps): Route[] {
  return [chatRoute(deps), resumeRoute(deps), stopRoute(deps), completionsRoute(deps)];
}

function chatRoute(deps: TurnRoutesDeps): Route {
  return route({
    method: 'POST',
    path: '/run/api/chat',
    who: ['user', 'service'],
    summary: 'One turn of a chat',
    description:
      'An AI SDK UI message stream, for `useChat` and others. A part `data-elicitation-response` in the last message answers a question instead.',
    headers: {
      ...KEY_HEADER,
      'X-Supports-Elicitation': '`true`, `form`, `url` or `form,url`: questions the client can show.',
      'X-Parley-Delivery':
        '`detach` ends the stream once all of the turn waits for the person; the answer has it go on, and the client resumes. `hold` (the default) keeps the stream for a while first.',
    },
    body: ChatInput,
    replies: { 200: Events },
    errors: [
      'not_found',
      'invalid_answer',
      'already_settled',
      'expired',
      'turn_running',
      'idempotency_mismatch',
    ],
    async handle(call) {
      const { messages, stream, agent, ...ids } = call.body;
      const conversationId = ids.conversationId ?? ids.id;
      const answer = answerIn(messages);
      if (answer !== undefined) {
        if (conversationId === undefined) throw notFound();
        return answerFromChat(deps.engine, deps.admitAnswer, call, { ...answer, conversationId });
      }
      const asked = { conversationId, messages, agent, streams: stream };
      if (!stream) return buffered(deps, call, asked);
      return streamTurn(deps, call, async () => {
        const { run } = await begin(deps, call, asked);
        return {
          stream: run,
          encoder: createAiSdkEncoder(await factsOf(deps, run)),
          headers: { ...AI_SDK_HEADERS, ...turnHeaders(run) },
        };
      });
    },
  });
}

function completionsRoute(deps: TurnRoutesDeps): Route {
  return route({
    method: 'POST',
    path: '/run/v1/chat/completions',
    who: ['user', 'service'],
    summary: 'The same turn for clients of OpenAI',
    description: '`model` names the agent. Questions come as JSON envelopes in `delta.content`.',
    headers: KEY_HEADER,
    body: CompletionInput,
    replies: { 200: Events },
    errors: ['turn_running', 'idempotency_mismatch'],
    async handle(call) {
      const { messages, model, conversationId, stream_options: options } = call.body;
      const streams = call.body.stream === true;
      const asked = { conversationId, messages, agent: model, streams };
      if (!streams) return buffered(deps, call, asked);
      return streamTurn(deps, call, async () => {
        const { run, support, delivery } = await begin(deps, call, asked);
        const facts = await factsOf(deps, run);
        const encoder = createOpenAiEncoder({
          model,
          created: secondsNow(),
          envelopes: support.form || support.url,
          detaches: delivery === 'detach',
          usage: options?.include_usage === true,
          steps: deps.openAiSteps,
        });
        return {
          stream: run,
          encoder: facts === undefined ? encoder : encoderForReturn(encoder, facts),
          headers: turnHeaders(run),
        };
      });
    },
  });
}

function resumeRoute(deps: TurnRoutesDeps): Route {
  const { turns } = deps;
  return route({
    method: 'GET',
    path: '/run/api/chat/:conversationId/stream',
    who: ['user'],
    summary: 'Resume the running turn of a conversation',
    description:
      'From its start, or after Last-Event-ID, on any pod; also the end of a turn that has ended since, and all of one that was detached. 204 when there is nothing to tell.',
    headers: { 'Last-Event-ID': 'Nothing up to this event is sent again.' },
    replies: { 200: Events, 204: { description: 'Nothing to tell' } },
    async handle(call) {
      const conversation = conversationOf(call.caller, call.params.conversationId);
      const lastEventId = call.header('last-event-id') ?? '';
      const after = parseFeedPosition(lastEventId);
      if (lastEventId !== '' && after === undefined) {
        throw new ParleyError('invalid_request', 'Last-Event-ID must be the id of an event of this stream.');
      }
      await call.admitted;
      const stream = await turns.resumable(conversation, after);
      if (stream === undefined) return { type: 'empty', status: 204 };
      return streamTurn(deps, call, async () => {
        const facts = await scanOf(deps, stream);
        return {
          stream,
          encoder: createAiSdkEncoder({ ...facts, ...(after !== undefined && { after }) }),
          headers: { ...AI_SDK_HEADERS, [CONVERSATION_HEADER]: conversation.conversationId },
        };
      });
    },
  });
}

function stopRoute({ turns }: TurnRoutesDeps): Route {
  return route({
    method: 'POST',
    path: '/run/api/chat/:conversationId/stop',
    who: ['user'],
    summary: 'Stop the running turn of a conversation',
    description: 'On whichever pod it runs. Its open questions are withdrawn.',
    replies: {
      200: { description: 'Whether a turn ran', schema: z.object({ stopped: z.boolean() }) },
    },
    async handle(call) {
      const conversation = conversationOf(call.caller, call.params.conversationId);
      await call.admitted;
      return json(200, { stopped: await turns.stop(conversation) });
    },
  });
}

interface Asked {
  readonly conversationId: string | undefined;
  readonly messages: readonly ChatMessage[];
  readonly agent: string | undefined;
  readonly streams: boolean;
}

async function begin({ turns }: TurnRoutesDeps, call: Call, asked: Asked) {
  if (call.draining) throw goingAway();
  const input = inputOf(asked.messages);
  if (input.length === 0) {
    throw new ParleyError('invalid_request', "The last message must be the user's, and hold text.", {
      issues: [
        { path: `messages.${asked.messages.length - 1}`, message: 'must be a user message with text' },
      ],
    });
  }
  const before = beforeOf(asked.messages);
  const repeatable = repeatableOf(call.header, { ...asked, before, input });
  await call.admitted;
  const conversationId = asked.conversationId ?? `conv_${randomUUID()}`;
  const support = supportOf(call.header(SUPPORT_HEADER), call.caller, asked.streams);
  const delivery = deliveryOf(call.header(DELIVERY_HEADER));
  const run = await turns.begin({
    conversation: { ...principalOf(call.caller), conversationId },
    ...(asked.agent !== undefined && { agent: asked.agent }),
    input,
    before,
    support,
    delivery,
    ...(repeatable !== undefined && { repeatable }),
  });
  return { run, support, delivery, isRepeatable: repeatable !== undefined };
}

/** What a reader of a turn that was begun before has to know of it. */
async function factsOf(deps: TurnRoutesDeps, run: BegunTurn): Promise<ReplayFacts | undefined> {
  return run.isRepeat ? scanOf(deps, run) : undefined;
}

async function buffered(deps: TurnRoutesDeps, call: Call, asked: Asked): Promise<Reply> {
  const { run, isRepeatable } = await begin(deps, call, asked);
  const turn = createBufferedTurn();
  await wholeTurn(deps, run, call.signal, (item) => turn.take(item)).catch((error: unknown) => {
    throw call.draining ? goingAway() : error;
  });
  const { outcome } = turn;
  if (outcome?.type !== 'turn-finished') throw failureOf(outcome, isRepeatable);
  const head = { model: asked.agent ?? 'default', created: secondsNow() };
  return json(200, completionOf(turn.message(), outcome, head), turnHeaders(run));
}

// How a turn may end that goes well when it is asked for again.
const PASSING_CODES: readonly string[] = ['interrupted', 'lost', 'model_unavailable'];

/** A failed turn as the error of its call. What would fail again is not to be tried again by itself. */
function failureOf(failed: Failed | undefined, isRepeatable: boolean): ParleyError {
  const { code, message } = failed ?? { code: 'lost', message: 'The turn was lost; please ask again.' };
  // Asked again under its key, a turn that has ended stays as it is; one that was only lost from view may still go on.
  return failed === undefined || (PASSING_CODES.includes(code) && !isRepeatable)
    ? new ParleyError('unavailable', message, { retryAfterSeconds: 1 })
    : new ParleyError('internal', message, { retry: false });
}

function goingAway(): ParleyError {
  return new ParleyError('unavailable', 'This pod is going away; ask again.', { retryAfterSeconds: 1 });
}

function conversationOf(caller: Caller, conversationId: string | undefined): ConversationRef {
  if (conversationId === undefined || !isReferenceId(conversationId)) throw notFound();
  const { tenant, userId } = userOf(caller);
  return { tenant, userId, conversationId };
}

function principalOf(caller: Caller): Owner {
  const { tenant } = caller;
  return {
    tenant,
    userId: caller.kind === 'user' ? caller.userId : `${SERVICE_PRINCIPAL}:${caller.keyId ?? ''}`,
  };
}

function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
