/** The routes of the Responses format. Chat completions are in `routes.ts`, beginning turns is in `turn-replies.ts`. */

import { QUOTA_CODES } from '@parley/core/domain/errors';
import { keyedStreamRequestId } from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import { notFound } from '@parley/shared/domain/caller';
import { contentParts, leftOutText } from '@parley/shared/domain/runs/content';
import type { Run } from '@parley/shared/domain/runs/run';
import { FINISH_REASONS, type FinishReason } from '@parley/shared/domain/runs/turn-events';
import { z } from 'zod';
import { bearer, json, jsonBody, type Reply, type Route, type RouteCall, route } from '../../http/route.ts';
import { TURN_KEY_DOCS, turnHeaders } from '../../http/turn-headers.ts';
import { secondsNow } from '../../turns/completion.ts';
import { holdsContent } from '../../turns/messages.ts';
import { principalOf } from '../../turns/principal.ts';
import { BLOCK_GAP } from '../../turns/text.ts';
import type { BegunTurn, Turns } from '../../turns/turns.ts';
import { RESPONSE_EXAMPLE, RESPONSE_STREAM_EXAMPLE } from './examples.ts';
import { openAiRefusal } from './refusal.ts';
import { refused } from './refused.ts';
import { createResponseFormat } from './response-format.ts';
import { messagesOf, ResponseRequest } from './response-input.ts';
import {
  type ResponseHead,
  type ResponseState,
  responseIdOf,
  responseOf,
  turnOfResponse,
} from './response-object.ts';
import { type OpenAiDeps, type OpenAiRequest, streamedReply, wholeTurn } from './turn-replies.ts';

const ResponseObject = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
    output: z.array(z.looseObject({ type: z.literal('message') })),
    conversation: z.object({ id: z.string() }),
  })
  .meta({ id: 'Response' });

/** The query of a client that reads a response again. `include` has no effect. */
const ReadQuery = z.looseObject({
  stream: z
    .literal('false', { error: 'must be false: a response that is read again comes as a whole' })
    .optional(),
});

/** The same turns as in the chat API, in OpenAI's Responses format. */
export function responseRoutes(deps: OpenAiDeps): Route[] {
  return [createRoute(deps), readRoute(deps)];
}

function createRoute(deps: OpenAiDeps): Route {
  return route({
    method: 'POST',
    path: '/run/v1/responses',
    proof: bearer('user', 'chat'),
    body: jsonBody(ResponseRequest, { bytesMax: 'messages' }),
    docs: {
      group: 'Chats',
      summary: 'The same turn for clients of OpenAI’s Responses API',
      example: RESPONSE_STREAM_EXAMPLE,
      description:
        '`model` names the agent. Questions come as JSON envelopes in `response.output_text.delta`, each with the nonce of `x-parley-nonce`.',
      headers: TURN_KEY_DOCS,
      replies: { 200: { description: 'Server-sent events', events: true } },
      errors: ['not_found', 'turn_running', 'idempotency_mismatch', ...QUOTA_CODES, 'pod_busy'],
    },
    async handle(call) {
      await call.admitted;
      const request = await requestOf(deps, call);
      const headOf = (run: BegunTurn): ResponseHead => ({
        id: responseIdOf(run.streamRequestId),
        model: request.model,
        created: secondsNow(),
        conversationId: run.conversationId,
        previousId: call.body.previous_response_id ?? undefined,
      });
      return call.body.stream === true
        ? streamedReply(deps, call, request, (run, nonce) => createResponseFormat(headOf(run), nonce))
        : wholeReply(deps, call, request, headOf);
    },
    refuse: openAiRefusal,
  });
}

async function wholeReply(
  deps: OpenAiDeps,
  call: RouteCall,
  request: OpenAiRequest,
  headOf: (run: BegunTurn) => ResponseHead,
): Promise<Reply> {
  const { run, turn } = await wholeTurn(deps, call, request);
  const state: ResponseState = { type: 'ended', text: turn.text, end: turn };
  return json(200, responseOf(headOf(run), state), turnHeaders(run));
}

function readRoute(deps: OpenAiDeps): Route {
  return route({
    method: 'GET',
    path: '/run/v1/responses/:id',
    proof: bearer('user', 'chat'),
    query: ReadQuery,
    docs: {
      group: 'Chats',
      summary: 'Read a response again, for clients of OpenAI’s Responses API',
      example: { reply: RESPONSE_EXAMPLE },
      description: 'For as long as its turn is kept. While the turn runs, its status is `in_progress`.',
      replies: { 200: { description: 'The response', schema: ResponseObject } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      const run = await readTurn(deps, caller, params.id ?? '');
      if (run === undefined) throw notFound();
      const head = {
        id: responseIdOf(run.streamRequestId),
        model: run.agent,
        created: Math.floor(run.startedAt / 1000),
        conversationId: run.conversationId,
        previousId: undefined,
      };
      return json(200, responseOf(head, await stateOf(deps, run)));
    },
    refuse: openAiRefusal,
  });
}

/** The request, with the conversation that it names or to which its previous response belongs. */
async function requestOf(
  deps: OpenAiDeps,
  { caller, body, header }: Pick<RouteCall<undefined, ResponseRequest>, 'caller' | 'body' | 'header'>,
): Promise<OpenAiRequest> {
  const { model, conversation, previous_response_id: previousId } = body;
  const messages = await messagesOf(body.input, async (id) => {
    const run = await readTurn(deps, caller, id);
    return run && textOf(deps.turns, run);
  });
  const last = messages.at(-1);
  if (last?.role !== 'user' || !holdsContent(last))
    throw refused('input', 'must end with a message of the user that holds text or a file');
  if (previousId == null) {
    const conversationId = typeof conversation === 'string' ? conversation : conversation?.id;
    return { model, conversationId, isOneShot: conversationId === undefined, messages };
  }
  const path = 'previous_response_id';
  if (conversation != null) throw refused(path, 'cannot be sent with a conversation');
  // A repeated request leads to the turn that it began, even if later turns were added or removed since.
  const ownTurn = () => readKeyedTurn(deps, caller, header('idempotency-key'));
  const run = (await readTurn(deps, caller, previousId)) ?? (await ownTurn());
  if (run === undefined) throw refused(path, 'names no response that is kept');
  const { conversationId, unlisted } = run;
  const newest = await deps.turns.newestTurn({ ...principalOf(caller), conversationId });
  if (newest !== run.streamRequestId && (await ownTurn()) === undefined)
    throw refused(path, 'is not the newest response of its conversation, and only that one can be continued');
  return { model, conversationId, isOneShot: unlisted === true, messages };
}

/** The caller's turn that belongs to a response or to its message; undefined if none is stored. */
async function readTurn({ turns }: OpenAiDeps, caller: Caller, id: string): Promise<Run | undefined> {
  const streamRequestId = turnOfResponse(id);
  if (streamRequestId === undefined) return undefined;
  const run = await turns.readRun({ ...principalOf(caller), streamRequestId });
  // Runs of delegates and single-call runs are not responses.
  const isTurn =
    run?.parent === undefined && turns.listAgents(caller).some((agent) => agent.id === run?.agent);
  return isTurn ? run : undefined;
}

/** The turn that an earlier request of the caller began with this key. */
async function readKeyedTurn(
  { turns }: OpenAiDeps,
  caller: Caller,
  key: string | undefined,
): Promise<Run | undefined> {
  if (key === undefined) return undefined;
  const person = principalOf(caller);
  return turns.readRun({ ...person, streamRequestId: await keyedStreamRequestId(person, key) });
}

async function stateOf({ turns }: OpenAiDeps, run: Run): Promise<ResponseState> {
  if (run.status === 'running') return { type: 'running' };
  const text = await textOf(turns, run);
  if (run.status === 'failed')
    return {
      type: 'failed',
      text,
      code: 'server_error',
      message: 'The turn failed; its stream had the reason.',
    };
  const { finishReason, used } = run.steps.at(-1) ?? {};
  const reason = FINISH_REASONS.find((known) => known === finishReason) ?? reasonOf(run.status, finishReason);
  return { type: 'ended', text, end: { reason, usage: used } };
}

/** A turn whose last step still wanted tools was ended by its step limit, unless its person stopped it. */
function reasonOf(status: Run['status'], finishReason: string | undefined): FinishReason {
  if (status === 'stopped') return 'stopped';
  return finishReason === 'tool-calls' ? 'step-limit' : 'stop';
}

/** The text of a turn, as it was streamed. */
async function textOf(turns: Pick<Turns, 'readSaid'>, run: Run): Promise<string> {
  const texts = (await turns.readSaid(run))
    .flatMap(({ content }) => contentParts(content))
    .map((part) => (part.type === 'text' ? part.text : ''));
  return [leftOutText(run.input), ...texts].filter((text) => text !== '').join(BLOCK_GAP);
}
