/** The input of the built-in tool `elicit`, as models get it and as it is checked. Asking is in `elicit-tool.ts`. */

import type { ParleyError } from '@parley/core/domain/errors';
import { LISTED_TYPES } from '@parley/core/domain/forms/listed-kinds';
import { z } from 'zod';

const Option = z.strictObject({
  value: z.string().min(1).max(200),
  title: z.string().min(1).max(200).optional().describe('What the person reads; the value when absent.'),
});

const QUESTION = {
  message: z.string().min(1).describe('The question, as the person reads it.'),
  title: z.string().optional().describe('A short heading.'),
};
const FORM_QUESTION = {
  ...QUESTION,
  sensitive: z
    .boolean()
    .optional()
    .describe('true: you do not get the answer, only the information that there is one.'),
};

const FieldInput = z.strictObject({
  name: z.string().min(1).max(128),
  prompt: z.string().min(1).max(200).optional(),
  type: z.enum(LISTED_TYPES).default('text'),
  options: z
    .array(z.union([z.string().min(1).max(200), Option]))
    .max(50)
    .optional(),
  required: z.boolean().default(true),
  for: z.string().max(128).optional(),
});
/** A field of a form as a model lists it. */
export type FieldInput = z.infer<typeof FieldInput>;

/** The question of a model. */
export const ElicitInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), ...FORM_QUESTION, default: z.string().min(1).optional() }),
  z.strictObject({
    kind: z.literal('choice'),
    ...FORM_QUESTION,
    options: z.array(Option).min(2).max(50),
    default: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('multi_choice'),
    ...FORM_QUESTION,
    options: z.array(Option).min(1).max(50),
    min: z.int().min(0).optional(),
    max: z.int().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('confirmation'), ...FORM_QUESTION, default: z.boolean().optional() }),
  z
    .strictObject({
      kind: z.literal('form'),
      ...FORM_QUESTION,
      schema: z.record(z.string(), z.unknown()).optional(),
      fields: z.array(FieldInput).min(1).max(50).optional(),
    })
    .refine(({ schema, fields }) => (schema === undefined) !== (fields === undefined), {
      message: 'needs either schema or fields',
    })
    .refine(({ fields = [] }) => new Set(fields.map(({ name }) => name)).size === fields.length, {
      message: 'two fields have the same name',
      path: ['fields'],
    }),
  z.strictObject({ kind: z.literal('secret'), ...QUESTION, for: z.string().max(128).optional() }),
]);
export type ElicitInput = z.infer<typeof ElicitInput>;

/** A choice: its value, and the text that the person reads. A string is both. */
export type OptionInput = string | z.infer<typeof Option>;

/** The input schema for models: one object for all kinds, because providers do not support unions here. */
export const ELICIT_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['text', 'choice', 'multi_choice', 'confirmation', 'form', 'secret'] },
    message: { type: 'string', description: FORM_QUESTION.message.description },
    title: { type: 'string', description: 'A short heading.' },
    options: {
      type: 'array',
      description: 'choice and multi_choice: what to choose from.',
      items: {
        type: 'object',
        properties: { value: { type: 'string' }, title: { type: 'string' } },
        required: ['value'],
      },
    },
    min: { type: 'integer', description: 'multi_choice: how many at least.' },
    max: { type: 'integer', description: 'multi_choice: how many at most.' },
    schema: {
      type: 'object',
      description: 'form: a flat JSON Schema object of string, number, integer, boolean and enum fields.',
    },
    fields: {
      type: 'array',
      description: 'form: its fields, instead of a schema.',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name of the value in the answer.' },
          prompt: { type: 'string', description: 'What the person reads.' },
          type: { type: 'string', enum: LISTED_TYPES, description: 'text when absent.' },
          options: { type: 'array', items: { type: 'string' }, description: 'choice and multi_choice.' },
          required: { type: 'boolean', description: 'true when absent.' },
          for: { type: 'string', description: 'secret: the name of the tool that will use it.' },
        },
        required: ['name'],
      },
    },
    default: {
      description:
        'text, choice and confirmation: the value to continue with if the user cannot be shown the question. Only where a wrong guess does no harm.',
    },
    sensitive: { type: 'boolean', description: FORM_QUESTION.sensitive.description },
    for: { type: 'string', description: 'secret: the name of the tool that will use it.' },
  },
  required: ['kind', 'message'],
} as const;

/** Why a question was refused, in words for the model that use the names of its own input. */
export function describeRefusal({ message, issues = [] }: ParleyError): string {
  const named = (path: string) => (path.startsWith('onUnavailable') ? 'default' : path);
  return [message, ...issues.map((issue) => `${named(issue.path)}: ${issue.message}`)].join(' ');
}
