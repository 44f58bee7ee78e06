import { randomBytes } from 'node:crypto';
import { CallerId } from '@parley/shared/domain/elicitations/ask-input';
import { ParleyError, QUOTA_CODES } from '@parley/shared/domain/errors';
import type { Caller } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
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
import {
  readTurnHeaders,
  TURN_BROWSER_HEADERS,
  TURN_KEY_DOCS,
  turnHeaders,
  turnReader,
} from '../../http/turn-headers.ts';
import { completionOf, secondsNow } from '../../turns/completion.ts';
import { encodeTurn } from '../../turns/encoder.ts';
import { type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import { ChatMessages } from '../../turns/messages.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import { startTurn } from '../../turns/start.ts';
import type { Turns } from '../../turns/turns.ts';
import { readWholeTurn } from '../../turns/whole-turn.ts';
import { createOpenAiEncoder, OPENAI_ON_EXPIRY, type OpenAiOptions } from './encoder.ts';
import { COMPLETION_EXAMPLE, MODEL_EXAMPLE, MODELS_EXAMPLE } from './examples.ts';
import { openAiRefusal } from './refusal.ts';

export interface OpenAiDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** When the text of a step is sent. */
  readonly steps: OpenAiOptions['steps'];
}

const NONCE_HEADER = 'x-parley-nonce';
const NONCE_BYTES = 16;

/** A turn as clients of OpenAI ask for it. `model` names the agent. */
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

/** The same turns as in the chat API, for clients of OpenAI. */
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

/** The agents with which the caller may begin turns. */
function modelsOf({ turns }: Pick<OpenAiDeps, 'turns'>, caller: Caller): readonly ModelObject[] {
  return turns
    .listAgents(caller)
    .map(({ id, title }) => ({ id, object: 'model', created: 0, owned_by: 'parley', name: title }));
}

/** The agent as a model. Throws `not_found` when the caller may not begin turns with one of that id. */
function modelOf(deps: Pick<OpenAiDeps, 'turns'>, caller: Caller, id: string): ModelObject {
  const found = modelsOf(deps, caller).find((model) => model.id === id);
  if (found === undefined)
    throw new ParleyError('not_found', `The model ${JSON.stringify(id)} does not exist.`);
  return found;
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
      return json(200, { object: 'list', data: [...modelsOf(deps, caller)] } satisfies z.infer<
        typeof Models
      >);
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
      return json(200, modelOf(deps, caller, params.id ?? ''));
    },
    refuse: openAiRefusal,
  });
}

type CompletionCall = RouteCall<undefined, CompletionInput>;

function chunksReply(deps: OpenAiDeps, call: CompletionCall): Promise<Reply> {
  const { body } = call;
  const reader = turnReader(body.conversationId, call.header);
  return inStreamPlace(deps.limits, call, reader, async (place) => {
    const options = readTurnHeaders(call, true);
    const { run } = await start(deps, call, options);
    const nonce = options.support.form || options.support.url ? createNonce() : undefined;
    const facts = run.isRepeat ? await readReplayFacts(deps, run) : undefined;
    const encoder = createOpenAiEncoder({
      model: body.model,
      created: secondsNow(),
      nonce,
      detaches: options.delivery === 'detach',
      usage: body.stream_options?.include_usage === true,
      steps: deps.steps,
    });
    // A client without the nonce gets no envelope, so that it shows neither questions nor approvals.
    const note = nonce === undefined ? undefined : deps.turns.seenNotes(run);
    const onAsked: FollowTurnOptions['onAsked'] = note && ((asked) => void note(asked));
    const events = await followTurn(deps, run, { signal: place.signal, facts, onAsked });
    return {
      type: 'events',
      headers: { ...turnHeaders(run), ...(nonce !== undefined && { [NONCE_HEADER]: nonce }) },
      events: encodeTurn(events, encoder, place),
      resumable: false,
      onExpiry: OPENAI_ON_EXPIRY,
    };
  });
}

async function wholeReply(deps: OpenAiDeps, call: CompletionCall): Promise<Reply> {
  const started = await start(deps, call, readTurnHeaders(call, false));
  const turn = await readWholeTurn(deps, started, call);
  const head = { model: call.body.model, created: secondsNow() };
  return json(200, completionOf(turn, head), turnHeaders(started.run));
}

async function start(deps: OpenAiDeps, call: CompletionCall, options: ReturnType<typeof readTurnHeaders>) {
  const { caller, body, draining, admitted } = call;
  const { conversationId, messages } = body;
  await admitted;
  const { id: agent } = modelOf(deps, caller, body.model);
  const request = { caller, conversationId, messages, agent, ...options, draining, admitted };
  // Chat pages send several such requests a message, for titles and tags.
  return startTurn(deps.turns, { ...request, isOneShot: true });
}

function createNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}
