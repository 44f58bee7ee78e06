/**
 * Converts questions to MCP and records the answers of its clients. When a client is asked is decided in `legacy/` and
 * `rounds.ts`.
 */

import type { inputRequired } from '@modelcontextprotocol/server';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { isParleyError } from '@parley/core/domain/errors';
import { bucketOfElicitationId } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import type { Caller } from '@parley/shared/domain/caller';
import type { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { ClientAsked } from './open-requests.ts';

/** The surface recorded with an answer through MCP. */
export const MCP_SURFACE = 'mcp';

/**
 * A question as an `elicitation/create` for the clients of its turn. Its `elicitationId` is the id with which its completion is
 * reported later.
 */
export function elicitParamsOf(
  { elicitationId, mode, message, description, requestedSchema, url, context }: Elicitation,
  options: { readonly namesUrl: boolean },
): Record<string, unknown> {
  const paragraphs = [...leadOf(context), message, ...(description === undefined ? [] : [description])];
  const text = paragraphs.join('\n\n');
  return mode === 'url'
    ? { mode, message: text, url, ...(options.namesUrl && { elicitationId }) }
    : { mode, message: text, requestedSchema: withoutPatterns(requestedSchema) };
}

/**
 * Names the asker before the question's text, because a client only says that Parley asks. For an agent's server, names the
 * server's title and the agent.
 */
function leadOf(context: Elicitation['context']): string[] {
  const asker = askerOf({ context });
  const { trigger, toolName: server } = context;
  const isOfServer = trigger === 'mcp_elicitation' && typeof server === 'string' && server !== asker;
  if (isOfServer) return [asker === undefined ? `${server} asks:` : `${server} asks, for ${asker}:`];
  return asker === undefined ? [] : [`${asker} asks:`];
}

/** The questions for a client in a result, by unique keys that stay the same. */
export function inputRequestsOf(
  questions: readonly Elicitation[],
  requests: readonly ClientAsked[],
): InputRequests {
  const asked = [
    ...questions.map((question) => {
      const params = elicitParamsOf(question, { namesUrl: false });
      return [question.elicitationId, { method: 'elicitation/create', params }] as const;
    }),
    ...requests.map(({ requestId, method, params }) => [requestId, { method, params }] as const),
  ];
  return Object.fromEntries(asked) as InputRequests;
}

type InputRequests = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>;

/** Removes patterns, which MCP lacks. Parley checks answers against them. */
function withoutPatterns(schema: Elicitation['requestedSchema']): unknown {
  if (!isRecord(schema) || !isRecord(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    if (!isRecord(field)) return [name, field];
    const { pattern: _pattern, ...rest } = field;
    return [name, rest];
  });
  return { ...schema, properties: Object.fromEntries(properties) as unknown };
}

/** How an answer was received. `refused`: it does not fit the form, so the question stays open. */
export type Received =
  | { readonly type: 'recorded' | 'ignored' }
  | { readonly type: 'refused'; readonly error: unknown; readonly streamRequestId: string };

interface McpAnswer {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly id: string;
  /** The `ElicitResult` as the client sent it; undefined if the client sent an error. */
  readonly result: unknown;
  /** The conversation to which the question must belong, if it is known. */
  readonly conversationId?: string;
  /** Rejects if the caller is over a budget. Nothing is read before it resolves. */
  readonly admitted: Promise<void>;
}

/**
 * Records an answer. Answers to unknown or ended questions are ignored, because a client cannot know that the question was
 * answered elsewhere. A client's error counts as a cancellation. Throws `unavailable` and `rate_limited`.
 */
export async function recordAnswer(
  engine: Pick<Engine, 'answer' | 'read'>,
  answer: McpAnswer,
): Promise<Received> {
  const { caller, id, conversationId } = answer;
  await answer.admitted;
  if (bucketOfElicitationId(id) === undefined) return { type: 'ignored' };
  let streamRequestId = '';
  try {
    const { row } = await engine.read(caller, id);
    streamRequestId = row.definition.streamRequestId;
    const { mode, answerUrl } = row.definition;
    // If a form was shown as a url, the client only sends consent, and the answer is given on the form's page.
    const form = mode === 'form' && answerUrl === undefined ? row.definition.requestedSchema : undefined;
    const response = responseOf(answer.result, form);
    await engine.answer({
      caller,
      id,
      response,
      surface: MCP_SURFACE,
      ...(conversationId !== undefined && { conversationId }),
    });
    return { type: 'recorded' };
  } catch (error) {
    if (!isParleyError(error)) throw error;
    if (error.code === 'invalid_answer' || error.code === 'invalid_request')
      return { type: 'refused', error, streamRequestId };
    if (IGNORED.has(error.code)) return { type: 'ignored' };
    throw error;
  }
}

const IGNORED: ReadonlySet<string> = new Set(['not_found', 'already_settled', 'expired']);

/** Content counts only for an accepted form. Clients send it in other cases, too. */
function responseOf(result: unknown, form: Elicitation['requestedSchema']): ResponseInput {
  const action = isRecord(result) ? ACTIONS.find((known) => known === result.action) : undefined;
  if (action === undefined || !isRecord(result)) return { action: 'cancel' };
  const takesContent = action === 'accept' && form !== undefined && isRecord(result.content);
  return { action, ...(takesContent && { content: withoutBlanks(result.content as SentContent, form) }) };
}

type SentContent = Readonly<Record<string, unknown>>;

/**
 * Removes blank texts that do not fit from optional fields, because clients send them for fields that their person left blank.
 */
function withoutBlanks(
  content: SentContent,
  { required = [] }: { readonly required?: unknown },
): SentContent {
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const entries = Object.entries(content).filter(([name, value]) => value !== '' || isRequired(name));
  return Object.fromEntries(entries);
}
