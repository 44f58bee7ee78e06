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

/** The surface that an answer through MCP is recorded with. */
export const MCP_SURFACE = 'mcp';

/** A question as the clients of its turn are shown it, as `elicitation/create`. Its url names the elicitation by the id that its completion names later. */
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
 * Who asks, before the words of the question: a client says only that Parley asks. A server of an agent asks by its own title,
 * and for that agent.
 */
function leadOf(context: Elicitation['context']): string[] {
  const asker = askerOf({ context });
  const { trigger, toolName: server } = context;
  const isOfServer = trigger === 'mcp_elicitation' && typeof server === 'string' && server !== asker;
  if (isOfServer) return [asker === undefined ? `${server} asks:` : `${server} asks, for ${asker}:`];
  return asker === undefined ? [] : [`${asker} asks:`];
}

/** What a client is asked in results, by keys that name each request once and for all. */
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

/** MCP has no patterns; answers are checked against them here. */
function withoutPatterns(schema: Elicitation['requestedSchema']): unknown {
  if (!isRecord(schema) || !isRecord(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    if (!isRecord(field)) return [name, field];
    const { pattern: _pattern, ...rest } = field;
    return [name, rest];
  });
  return { ...schema, properties: Object.fromEntries(properties) as unknown };
}

/** How an answer was received. `refused`: it does not fit the form, which stays open. */
export type Received =
  | { readonly type: 'recorded' | 'ignored' }
  | { readonly type: 'refused'; readonly error: unknown; readonly streamRequestId: string };

interface McpAnswer {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly id: string;
  /** The `ElicitResult` as the client sent it; undefined for an error in its place. */
  readonly result: unknown;
  /** The conversation to which the question must belong, where it is known. */
  readonly conversationId?: string;
  /** Rejects when the caller is over a budget. Nothing is read before it resolves. */
  readonly admitted: Promise<void>;
}

/**
 * Records an answer. Unknown questions and those that have ended are ignored: a client cannot know that another place
 * was faster. An error of the client counts as a dismissal. Throws `unavailable` and `rate_limited`.
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
    // A form that its client shows as a url takes consent from it, and the answer on its page.
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

/** Content is taken with an accepted form only; clients send it elsewhere, too. */
function responseOf(result: unknown, form: Elicitation['requestedSchema']): ResponseInput {
  const action = isRecord(result) ? ACTIONS.find((known) => known === result.action) : undefined;
  if (action === undefined || !isRecord(result)) return { action: 'cancel' };
  const takesContent = action === 'accept' && form !== undefined && isRecord(result.content);
  return { action, ...(takesContent && { content: withoutBlanks(result.content as SentContent, form) }) };
}

type SentContent = Readonly<Record<string, unknown>>;

/** Clients send a text that their person left blank, also where the field may be absent and a blank one does not fit. */
function withoutBlanks(
  content: SentContent,
  { required = [] }: { readonly required?: unknown },
): SentContent {
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const entries = Object.entries(content).filter(([name, value]) => value !== '' || isRequired(name));
  return Object.fromEntries(entries);
}
