/** Recognizes what an interrupt asks: an approval, a page or a form. Pure; asking is in `questions.ts`. */

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

/** The question of an interrupt. Pure. */
export type InterruptQuestion =
  /** A call of the agent that a person must approve. */
  | {
      readonly type: 'approval';
      readonly toolCallId: string;
      readonly name: string;
      readonly args: AnswerContent;
      /** Present if its arguments can be edited. */
      readonly argsSchema?: ResponseSchema;
    }
  /** A hosted page of another Parley. */
  | { readonly type: 'page'; readonly message: string; readonly url: string }
  | {
      readonly type: 'form';
      readonly question: Form;
      /** Makes the payload that answers the interrupt. */
      readonly payloadOf: (content: AnswerContent) => unknown;
    }
  /** The interrupt cannot be shown to a person. */
  | { readonly type: 'unusable' };

const FORMS = { form: true, url: false };
const MESSAGE_LENGTH_MAX = 4_000;
const ANSWER = 'answer';
const TEXT: ResponseSchema = { type: 'string' };

/** Reads an interrupt. The agent is named by its title. */
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

/** The metadata that another Parley adds about the question or approval behind an interrupt. */
export function parleyOf({ metadata }: Pick<AgUiInterrupt, 'metadata'>): AnswerContent | undefined {
  const parley = metadata && own(metadata, 'parley');
  return isRecord(parley) ? parley : undefined;
}

function isBoolean(schema: unknown): boolean {
  return isRecord(schema) && own(schema, 'type') === 'boolean';
}

/** Nobody should approve what they cannot read, so a call whose arguments cannot be shown is not put to the person. */
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

/** The arguments of a call. Undefined if they are not JSON or are nested too deeply. */
export function parsed(json: string): unknown {
  return isWithinDepth(json) ? jsonIn(json === '' ? '{}' : json) : undefined;
}

/** A form with one field, for an interrupt whose answer is not an object. */
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
