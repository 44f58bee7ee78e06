/** The elicitation calls of the hub API. The rules are in `shared/src/domain/elicitations`, streams in `streams.ts`. */

import { AskInput, TIMEOUT_SECONDS_MAX, UserId } from '@parley/core/domain/elicitations/ask-input';
import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { STATUSES } from '@parley/core/domain/elicitations/status';
import { ParleyError } from '@parley/core/domain/errors';
import { keyIdOf, keyNameOf } from '@parley/shared/domain/caller';
import { ResponseInput, WithdrawInput } from '@parley/shared/domain/elicitations/response-input';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { parseIdempotencyKey } from '@parley/shared/domain/idempotency-key';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { SAMPLE_ANSWERED, SAMPLE_ELICITATION } from '../../http/docs/samples.ts';
import { ownerOf, REPLAYED, seenReply, userOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type Reply, type Route, type RouteCall, route } from '../../http/route.ts';

const SURFACE = 'api';
const PAGE_MAX = 100;
const WAIT_SECONDS_MAX = 60;

const ElicitationPage = z
  .object({ elicitations: z.array(Elicitation), nextCursor: z.string().optional() })
  .meta({ id: 'ElicitationPage' });

const statusList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : value.split(',')))
  .pipe(z.array(z.enum(STATUSES)))
  .describe(`Keep only these; comma separated or repeated. Of ${STATUSES.join(', ')}.`);

const wholeNumber = (fallback: number, min: number, max: number, about: string) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .describe(`${about} ${min} to ${max}, by default ${fallback}.`);

const ListQuery = z.strictObject({
  status: statusList.optional(),
  userId: UserId.optional().describe('Required for a service; a user sees only their own.'),
  conversationId: z.string().max(128).optional().describe('Keep only those of this conversation.'),
  cursor: z
    .string()
    .regex(/^[0-9]{1,16}\.el_[A-Za-z0-9_-]{24}$/, 'must be the nextCursor of an earlier page')
    .optional()
    .describe('`nextCursor` of the page before.'),
  limit: wholeNumber(50, 1, PAGE_MAX, 'How many at most.'),
});

/** True if Parley has a connect page for a `context.toolId` for which a service may ask. */
export type HasConnectPage = (toolId: string) => boolean;

export interface ElicitationRoutesDeps {
  readonly engine: Engine;
  readonly hasConnectPage: HasConnectPage;
}

/** The elicitation calls of the hub API. */
export function elicitationRoutes({ engine, hasConnectPage }: ElicitationRoutesDeps): Route[] {
  return [
    askRoute(engine, hasConnectPage),
    listRoute(engine),
    readRoute(engine),
    waitRoute(engine),
    completeRoute(engine),
    withdrawRoute(engine),
    responseRoute(engine),
  ];
}

function askRoute(engine: Engine, hasConnectPage: HasConnectPage): Route {
  return route({
    method: 'POST',
    path: '/v1/elicitations',
    proof: bearer('ask'),
    body: jsonBody(AskInput),
    docs: {
      group: 'Questions',
      summary: 'Ask a person',
      example: { body: ASK_EXAMPLE, reply: SAMPLE_ELICITATION },
      description: `Creates an elicitation. It expires after timeoutSeconds (1 to ${TIMEOUT_SECONDS_MAX}).`,
      headers: { 'Idempotency-Key': 'The same key with the same body always leads to the same elicitation.' },
      replies: {
        201: { description: 'Asked; a repeat carries Idempotent-Replayed: true.', schema: Elicitation },
      },
      errors: ['idempotency_mismatch', 'stream_owner_mismatch'],
    },
    async handle({ caller, body, header, admitted }) {
      const key = parseIdempotencyKey(header('idempotency-key'));
      refuseMissingPage(body, hasConnectPage);
      await admitted;
      const asked = await engine.ask({
        tenant: caller.tenant,
        input: body,
        askedBy: keyIdOf(caller),
        askerName: keyNameOf(caller),
        ...(key !== undefined && { idempotencyKey: key }),
      });
      return seenReply(201, asked, asked.replayed ? REPLAYED : {});
    },
  });
}

/** Throws if a question without a url names a tool for which Parley has no connect page. */
function refuseMissingPage({ mode, url, context }: AskInput, hasConnectPage: HasConnectPage): void {
  const toolId = context?.toolId;
  if (mode !== 'url' || url !== undefined || toolId === undefined || hasConnectPage(toolId)) return;
  throw new ParleyError('invalid_request', 'The question is not well formed; see errors.', {
    issues: [
      {
        path: 'context.toolId',
        message: 'names nothing that can be connected here; give a url, or another toolId',
      },
    ],
  });
}

function listRoute(engine: Engine): Route {
  return route({
    method: 'GET',
    path: '/v1/elicitations',
    proof: bearer('user', 'read'),
    query: ListQuery,
    docs: {
      group: 'Questions',
      summary: "List a person's elicitations, newest first",
      example: { query: '?status=pending', reply: { elicitations: [SAMPLE_ELICITATION] } },
      replies: { 200: { description: 'A page', schema: ElicitationPage } },
      errors: ['not_found'],
    },
    async handle({ caller, query, admitted }) {
      // A list may examine thousands of rows, so it must not begin before it is admitted.
      await admitted;
      const page = await engine.list({
        owner: ownerOf(caller, query.userId),
        limit: query.limit,
        ...(query.status !== undefined && { statuses: query.status }),
        ...(query.conversationId !== undefined && { conversationId: query.conversationId }),
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      });
      return json(200, {
        elicitations: page.rows.map((row) => toWire(row, { now: page.now, content: true })),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      });
    },
  });
}

function readRoute(engine: Engine): Route {
  return route({
    method: 'GET',
    path: '/v1/elicitations/:id',
    proof: bearer('user', 'ask', 'read'),
    docs: {
      group: 'Questions',
      summary: 'Read an elicitation',
      example: { reply: SAMPLE_ELICITATION },
      replies: { 200: { description: 'As it stands', schema: Elicitation } },
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      return seenReply(200, await engine.read(caller, idOf(params)));
    },
  });
}

function waitRoute(engine: Engine): Route {
  return route({
    method: 'GET',
    path: '/v1/elicitations/:id/wait',
    proof: bearer('ask', 'read'),
    query: z.strictObject({
      timeoutSeconds: wholeNumber(30, 0, WAIT_SECONDS_MAX, 'How long to wait, in seconds.'),
    }),
    docs: {
      group: 'Questions',
      summary: 'Wait for the outcome',
      example: { query: '?timeoutSeconds=30', reply: SAMPLE_ANSWERED },
      description: 'Long poll: replies as soon as it ends, else after timeoutSeconds with the open one.',
      replies: { 200: { description: 'Ended, or still open after the time', schema: Elicitation } },
    },
    handle: (call) => waitReply(engine, call),
  });
}

function completeRoute(engine: Engine): Route {
  return route({
    method: 'POST',
    path: '/v1/elicitations/:id/complete',
    proof: bearer('ask'),
    docs: {
      group: 'Questions',
      summary: 'Finish a url elicitation with server completion',
      example: { reply: COMPLETED_EXAMPLE },
      replies: { 200: { description: 'Accepted', schema: Elicitation } },
      errors: ['already_settled', 'expired'],
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      return seenReply(200, await engine.complete({ caller, id: idOf(params), surface: SURFACE }));
    },
  });
}

function withdrawRoute(engine: Engine): Route {
  return route({
    method: 'DELETE',
    path: '/v1/elicitations/:id',
    proof: bearer('ask'),
    body: jsonBody(WithdrawInput, { optional: true }),
    docs: {
      group: 'Questions',
      summary: 'Take a question back',
      example: { body: { reason: 'superseded' }, reply: WITHDRAWN_EXAMPLE },
      replies: { 200: { description: 'Withdrawn', schema: Elicitation } },
      errors: ['already_settled', 'expired'],
    },
    async handle({ caller, params, body, admitted }) {
      await admitted;
      return seenReply(200, await engine.withdraw({ caller, id: idOf(params), reason: body.reason }));
    },
  });
}

/** The route for an answer. Its id is taken as sent: a percent-encoded id is `not_found`, as in earlier versions. */
function responseRoute(engine: Engine): Route {
  return route({
    method: 'POST',
    path: '/v1/elicitations/:id/response',
    rawParams: true,
    answers: 'id',
    proof: bearer('user'),
    body: jsonBody(ResponseInput),
    docs: {
      group: 'Questions',
      summary: 'Answer',
      example: { body: { action: 'accept', content: { seat: 'window' } }, reply: SAMPLE_ANSWERED },
      description:
        'Records the answer of the person it is for. The same answer sent again gets the same reply.',
      replies: { 200: { description: 'Recorded', schema: Elicitation } },
      errors: ['invalid_answer', 'already_settled', 'expired'],
    },
    async handle(call) {
      const id = idOf(call.params);
      const answered = await engine.answer({
        caller: userOf(call.caller),
        id,
        response: call.body,
        surface: SURFACE,
        admitted: call.admitted,
      });
      return seenReply(200, answered);
    },
  });
}

async function waitReply(engine: Engine, call: RouteCall<{ timeoutSeconds: number }>): Promise<Reply> {
  const { caller, params, query, signal } = call;
  const id = idOf(params);
  try {
    return seenReply(200, await engine.wait({ caller, id, timeoutMs: query.timeoutSeconds * 1000, signal }));
  } catch (error) {
    // A draining pod replies at once with the open elicitation, and the caller then waits on another pod.
    if (!call.draining) throw error;
    return seenReply(200, await engine.read(caller, id));
  }
}

function idOf(params: Readonly<Record<string, string>>): string {
  return params.id ?? '';
}

const ASK_EXAMPLE = {
  userId: SAMPLE_ELICITATION.userId,
  conversationId: SAMPLE_ELICITATION.conversationId,
  streamRequestId: SAMPLE_ELICITATION.streamRequestId,
  mode: 'form',
  message: SAMPLE_ELICITATION.message,
  requestedSchema: SAMPLE_ELICITATION.requestedSchema,
  timeoutSeconds: 600,
};

const { requestedSchema: _schema, content: _content, ...ANSWERED_URL } = SAMPLE_ANSWERED;
const COMPLETED_EXAMPLE = {
  ...ANSWERED_URL,
  mode: 'url',
  url: 'https://example.com/pay/42',
  completion: 'server',
};
const WITHDRAWN_EXAMPLE = {
  ...SAMPLE_ELICITATION,
  status: 'withdrawn',
  reason: 'superseded',
  settledAt: SAMPLE_ANSWERED.settledAt,
};
