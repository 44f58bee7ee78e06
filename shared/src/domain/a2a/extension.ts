/**
 * The schema and the wording of Parley's A2A extension, shared by the A2A surface and by agents that call other agents. Which
 * messages carry its parts is decided by those two.
 */

import { RISKS, riskNote } from '@parley/core/domain/approvals/risk';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ACTIONS, COMPLETIONS, MODES, STATUSES } from '@parley/core/domain/elicitations/status';
import { z } from 'zod';
import type { WirePart } from './wire.ts';

/**
 * The URI of the A2A extension by which a task asks a person and takes the answer. A question is a data part of a status
 * message; an answer is a data part of a message to the task. docs/a2a.md has the schemas and examples.
 */
export const ELICITATION_EXTENSION = 'https://parley.dev/a2a/extensions/elicitation/v1';

/** A question and its outcome. */
export const QuestionData = z.looseObject({
  type: z.literal('elicitation'),
  elicitationId: z.string(),
  mode: z.enum(MODES),
  message: z.string(),
  title: z.string().optional(),
  agent: z.string().optional().describe('Who asks, where that is known.'),
  risk: z.enum(RISKS).optional().describe('How much harm a wrong answer can do.'),
  description: z.string().optional(),
  requestedSchema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Of a form: the restricted JSON Schema.'),
  url: z.string().optional().describe('The page to open, with mode `url`.'),
  completion: z.enum(COMPLETIONS).optional(),
  sensitive: z.boolean().optional(),
  status: z.enum(STATUSES),
  action: z.enum(ACTIONS).optional().describe('What the person did, once the question has ended.'),
  reason: z.string().optional().describe('Why it was withdrawn.'),
  expiresAt: z.iso.datetime().describe('The deadline.'),
});
export type QuestionData = z.infer<typeof QuestionData>;

/** An answer to a question. */
export const AnswerData = z.looseObject({
  type: z.literal('elicitation-response'),
  elicitationId: z.string().max(128),
  action: z.enum(ACTIONS),
  content: z.record(z.string(), z.unknown()).optional().describe('Values by field, of an accepted form.'),
});
export type AnswerData = z.infer<typeof AnswerData>;

/** A question in the extension's form. `question` is the elicitation as the client of its turn displays it. */
export function questionDataOf(question: Elicitation): QuestionData {
  const { elicitationId, mode, message, title, description, requestedSchema, url, completion } = question;
  const { sensitive, risk, status, action, reason, expiresAt } = question;
  const agent = askerOf(question);
  return {
    type: 'elicitation',
    elicitationId,
    mode,
    message,
    ...(title !== undefined && { title }),
    ...(agent !== undefined && { agent }),
    ...(risk !== undefined && { risk }),
    ...(description !== undefined && { description }),
    ...(mode === 'form' && requestedSchema !== undefined && { requestedSchema }),
    ...(url !== undefined && { url }),
    ...(completion !== undefined && { completion }),
    ...(sensitive !== undefined && { sensitive }),
    status,
    ...(action !== undefined && { action }),
    ...(reason !== undefined && { reason }),
    expiresAt,
  };
}

/** The questions among the parts of a message. */
export function questionsIn(parts: readonly Pick<WirePart, 'data'>[]): QuestionData[] {
  return parts.flatMap(({ data }) => {
    const read = QuestionData.safeParse(data);
    return read.success ? [read.data] : [];
  });
}

/** A question as plain text, for clients that do not know the extension. */
export function questionText(question: QuestionData): string {
  const { mode, message, description, requestedSchema, url, agent, risk } = question;
  const asked = `${agent === undefined ? '' : `${agent} asks: `}${message}${riskNote(risk)}`;
  const words = description === undefined ? asked : `${asked}\n${description}`;
  if (mode === 'url') return url === undefined ? words : `${words}\nOpen: ${url}`;
  const fields = fieldsOf(requestedSchema);
  return isSoleText(fields) ? words : `${words}\n${fields.map(fieldText).join('\n')}`;
}

/** The name of the only field of a form that plain text can answer; undefined for every other question. */
export function plainTextField({ mode, requestedSchema, sensitive }: QuestionData): string | undefined {
  const fields = mode === 'form' && sensitive !== true ? fieldsOf(requestedSchema) : [];
  return isSoleText(fields) ? fields[0]?.name : undefined;
}

interface FormLine {
  readonly name: string;
  readonly type: string;
  readonly title?: string;
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}

function isSoleText(fields: readonly FormLine[]): boolean {
  return fields.length === 1 && fields[0]?.type === 'string';
}

function fieldText({ name, type, title, choices, isRequired }: FormLine): string {
  const kind = choices.length > 0 ? choices.join(' | ') : type;
  return `- ${title ?? name} (${kind}${isRequired ? '' : ', optional'})`;
}

const Choice = z.union([
  z.string(),
  z
    .looseObject({ const: z.string(), title: z.string().optional() })
    .transform((one) => one.title ?? one.const),
]);
const Choices = z.array(Choice).catch([]);
const Field = z.looseObject({
  type: z.string().catch('string'),
  title: z.string().optional().catch(undefined),
  enum: Choices.optional(),
  oneOf: Choices.optional(),
  items: z.looseObject({ enum: Choices.optional(), anyOf: Choices.optional() }).optional().catch(undefined),
});
const Form = z.looseObject({
  properties: z.record(z.string(), Field).catch({}),
  required: z.array(z.string()).catch([]),
});

function fieldsOf(schema: unknown): FormLine[] {
  const form = Form.safeParse(schema);
  if (!form.success) return [];
  const { properties, required } = form.data;
  return Object.entries(properties).map(([name, { type, title, items, ...field }]) => ({
    name,
    type,
    ...(title !== undefined && { title }),
    choices: field.enum ?? field.oneOf ?? items?.enum ?? items?.anyOf ?? [],
    isRequired: required.includes(name),
  }));
}
