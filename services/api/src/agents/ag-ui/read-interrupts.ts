import { jsonIn } from '@parley/core/domain/parsed';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { isWithinDepth } from '@parley/shared/domain/json/depth';
import { QuestionRefused, readQuestion } from '../mcp/questions/question.ts';
import { restoreContent } from '../mcp/questions/restores.ts';
import type { AgentQuestion } from '../run/question.ts';
import type { AgUiInterrupt } from './events.ts';
import { type AgUiThread, callOfThread } from './thread.ts';

type ResponseSchema = Readonly<Record<string, unknown>>;
type AnswerContent = Readonly<Record<string, unknown>>;
type Form = Pick<AgentQuestion, 'mode' | 'message' | 'requestedSchema'>;

/** What an interrupt asks. Pure. */
export type InterruptQuestion =
  /** A call of the agent that a person must approve. */
  | {
      readonly type: 'approval';
      readonly toolCallId: string;
      readonly name: string;
      readonly args: AnswerContent;
      /** Present where its arguments can be edited. */
      readonly argsSchema?: ResponseSchema;
    }
  /** A page of another Parley. */
  | { readonly type: 'page'; readonly message: string; readonly url: string }
  | {
      readonly type: 'form';
      readonly question: Form;
      /** The payload of an answer. */
      readonly payloadOf: (content: AnswerContent) => unknown;
    }
  /** It cannot be shown to a person. */
  | { readonly type: 'unusable' };

const FORMS = { form: true, url: false };
const MESSAGE_LENGTH_MAX = 4_000;
const ANSWER = 'answer';
const TEXT: ResponseSchema = { type: 'string' };

/** Reads an interrupt of an agent of this title. */
export function readInterrupt(
  interrupt: AgUiInterrupt,
  thread: Pick<AgUiThread, 'messages'>,
  title: string,
): InterruptQuestion {
  const { responseSchema = TEXT, toolCallId } = interrupt;
  const text = interrupt.message?.slice(0, MESSAGE_LENGTH_MAX).toWellFormed() ?? '';
  const message = text === '' ? `${title} needs more to continue.` : text;
  const { url } = parleyOf(interrupt) ?? {};
  if (interrupt.reason === 'parley:open_page' && typeof url === 'string')
    return { type: 'page', message, url };
  const properties = own(responseSchema, 'properties');
  if (toolCallId !== undefined && isRecord(properties) && isBoolean(own(properties, 'approved')))
    return readApproval(toolCallId, own(properties, 'editedArgs'), thread);
  return isRecord(properties)
    ? formOf(message, responseSchema, (content) => content)
    : formOf(message, wrapped(responseSchema), (content) => content[ANSWER]);
}

/** What another Parley says of the question or approval behind an interrupt. */
export function parleyOf({ metadata }: Pick<AgUiInterrupt, 'metadata'>): AnswerContent | undefined {
  const parley = metadata && own(metadata, 'parley');
  return isRecord(parley) ? parley : undefined;
}

function isBoolean(schema: unknown): boolean {
  return isRecord(schema) && own(schema, 'type') === 'boolean';
}

/** Nobody approves what they cannot read: a call without arguments that could be shown is not asked for. */
function readApproval(
  toolCallId: string,
  argsSchema: unknown,
  thread: Pick<AgUiThread, 'messages'>,
): InterruptQuestion {
  const call = callOfThread(thread, toolCallId);
  const args = call && parsed(call.arguments);
  if (call === undefined || !isRecord(args)) return { type: 'unusable' };
  return {
    type: 'approval',
    toolCallId,
    name: call.name,
    args,
    ...(isRecord(argsSchema) && { argsSchema }),
  };
}

/** The arguments of a call; undefined where they are no JSON, or are nested more deeply than readers go. */
export function parsed(json: string): unknown {
  return isWithinDepth(json) ? jsonIn(json === '' ? '{}' : json) : undefined;
}

/** A form of one field, for an answer that is no object. */
function wrapped(schema: ResponseSchema): ResponseSchema {
  return {
    type: 'object',
    properties: { [ANSWER]: { title: 'Answer', ...schema } },
    required: [ANSWER],
    ...(Object.hasOwn(schema, '$defs') && { $defs: schema.$defs }),
  };
}

function formOf(
  message: string,
  requestedSchema: ResponseSchema,
  payloadOf: (content: AnswerContent) => unknown,
): InterruptQuestion {
  try {
    const question = readQuestion({ mode: 'form', message, requestedSchema }, FORMS);
    if (question.mode !== 'form') return { type: 'unusable' };
    const { restores } = question;
    return {
      type: 'form',
      question: { mode: 'form', message, requestedSchema: question.requestedSchema },
      payloadOf: (content) => payloadOf(restoreContent(content, restores)),
    };
  } catch (error) {
    if (error instanceof QuestionRefused) return { type: 'unusable' };
    throw error;
  }
}
