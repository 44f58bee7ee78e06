/** The routes for OpenAI's clients: completions and models. The Responses format is in `responses.ts`. */

import { CallerId } from '@parley/core/domain/elicitations/ask-input';
import { QUOTA_CODES } from '@parley/core/domain/errors';
import { z } from 'zod';
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
import { TURN_BROWSER_HEADERS, TURN_KEY_DOCS, turnHeaders } from '../../http/turn-headers.ts';
import { completionOf, secondsNow } from '../../turns/completion.ts';
import { ChatMessages } from '../../turns/messages.ts';
import { createCompletionFormat } from './completion-format.ts';
import { COMPLETION_EXAMPLE, MODEL_EXAMPLE, MODELS_EXAMPLE } from './examples.ts';
import { openAiRefusal } from './refusal.ts';
import { responseRoutes } from './responses.ts';
import {
  modelOf,
  NONCE_HEADER,
  type OpenAiDeps,
  type OpenAiModel,
  type OpenAiRequest,
  streamedReply,
  wholeTurn,
} from './turn-replies.ts';

/** A request for a turn in OpenAI's format. `model` names the agent. */
const CompletionInput = z
  .looseObject({
    model: z.string().min(1).max(128),
    messages: ChatMessages,
    conversationId: CallerId.optional().describe(
      'Continues or begins this conversation. Absent: the request stands alone, and its conversation is in no list.',
    ),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  })
  .meta({ id: 'CompletionInput' });
type CompletionInput = z.infer<typeof CompletionInput>;

/** The same turns as in the chat API, for OpenAI's clients. */
export function openAiRoutes(deps: OpenAiDeps): Surface {
  return {
    routes: [
      route({
        method: 'POST',
        path: '/run/v1/chat/completions',
        proof: bearer('user', 'chat'),
        body: jsonBody(CompletionInput, { bytesMax: 'messages' }),
        docs: {
          group: 'Chats',
          summary: 'The same turn for clients of OpenAI',
          example: COMPLETION_EXAMPLE,
          description:
            '`model` names the agent. Questions come as JSON envelopes in `delta.content`, each with the nonce of `x-parley-nonce`.',
          headers: TURN_KEY_DOCS,
          replies: { 200: { description: 'Server-sent events', events: true } },
          errors: ['not_found', 'turn_running', 'idempotency_mismatch', ...QUOTA_CODES, 'pod_busy'],
        },
        handle: (call) => (call.body.stream === true ? chunksReply(deps, call) : wholeReply(deps, call)),
        refuse: openAiRefusal,
      }),
      modelsRoute(deps),
      modelRoute(deps),
      ...responseRoutes(deps),
    ],
    browserHeaders: {
      ...TURN_BROWSER_HEADERS,
      response: [...TURN_BROWSER_HEADERS.response, NONCE_HEADER],
    },
  };
}

const ModelObject = z
  .object({
    id: z.string().describe('Id of the agent.'),
    object: z.literal('model'),
    created: z.int().describe('Always 0: agents have no date.'),
    owned_by: z.literal('parley'),
    name: z.string().describe('Title of the agent.'),
  })
  .meta({ id: 'Model' });
type ModelObject = z.infer<typeof ModelObject>;
const Models = z.object({ object: z.literal('list'), data: z.array(ModelObject) }).meta({ id: 'Models' });

function modelObject({ id, title }: OpenAiModel): ModelObject {
  return { id, object: 'model', created: 0, owned_by: 'parley', name: title };
}

function modelsRoute(deps: OpenAiDeps): Route {
  return route({
    method: 'GET',
    path: '/run/v1/models',
    proof: bearer('user', 'chat'),
    docs: {
      group: 'Chats',
      summary: 'The agents, as models for clients of OpenAI',
      example: MODELS_EXAMPLE,
      replies: { 200: { description: 'The agents of the configuration', schema: Models } },
    },
    async handle({ caller, admitted }) {
      await admitted;
      const data = deps.turns.listAgents(caller).map(modelObject);
      return json(200, { object: 'list', data } satisfies z.infer<typeof Models>);
    },
    refuse: openAiRefusal,
  });
}

function modelRoute(deps: OpenAiDeps): Route {
  return route({
    method: 'GET',
    path: '/run/v1/models/:id',
    proof: bearer('user', 'chat'),
    docs: {
      group: 'Chats',
      summary: 'One agent, as a model for clients of OpenAI',
      example: MODEL_EXAMPLE,
      replies: { 200: { description: 'The agent', schema: ModelObject } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      return json(200, modelObject(modelOf(deps, caller, params.id ?? '')));
    },
    refuse: openAiRefusal,
  });
}

type CompletionCall = RouteCall<undefined, CompletionInput>;

function chunksReply(deps: OpenAiDeps, call: CompletionCall): Promise<Reply> {
  const { body } = call;
  const usage = body.stream_options?.include_usage === true;
  const head = { model: body.model, created: secondsNow(), usage };
  return streamedReply(deps, call, requestOf(body), (_run, nonce) =>
    createCompletionFormat({ ...head, nonce }),
  );
}

async function wholeReply(deps: OpenAiDeps, call: CompletionCall): Promise<Reply> {
  const { run, turn } = await wholeTurn(deps, call, requestOf(call.body));
  const head = { model: call.body.model, created: secondsNow() };
  return json(200, completionOf(turn, head), turnHeaders(run));
}

/**
 * Converts a request. Chat pages send several requests without a conversation for each message, for titles and tags. Many
 * contain a `system` message, which is ignored, because agents have their instructions from their configuration.
 */
function requestOf({ model, conversationId, messages }: CompletionInput): OpenAiRequest {
  return { model, conversationId, isOneShot: conversationId === undefined, messages };
}
