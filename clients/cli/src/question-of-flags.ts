import type { FormSchemaInput } from '@parley/sdk';
import { usageError } from './exit-code.ts';

/** The flags of `parley ask` that describe the answer. */
export interface AnswerFlags {
  readonly choice?: readonly string[];
  readonly multi?: boolean;
  readonly number?: boolean;
  readonly integer?: boolean;
  readonly confirm?: boolean;
  readonly date?: boolean;
  readonly min?: number;
  readonly max?: number;
}

/** The name of the only field in a question that flags describe. */
export const ANSWER_FIELD = 'answer';

/**
 * The form with one field that the flags describe; a text field without flags. Throws a usage error for contradictory flags.
 */
export function schemaOfFlags(flags: AnswerFlags, title: string): FormSchemaInput {
  return {
    type: 'object',
    properties: { [ANSWER_FIELD]: { ...fieldOf(flags), title } },
    required: [ANSWER_FIELD],
  };
}

function fieldOf(flags: AnswerFlags): FormSchemaInput['properties'][string] {
  const { choice, multi = false, number = false, integer = false, confirm = false, date = false } = flags;
  const isNumber = number || integer;
  const kinds = [choice !== undefined, isNumber, confirm, date].filter(Boolean);
  if (kinds.length > 1)
    throw usageError('Give one of --choice, --number or --integer, --confirm and --date, not several.');
  if (multi && choice === undefined) throw usageError('--multi needs at least one --choice.');
  if ((date || confirm) && (flags.min ?? flags.max) !== undefined)
    throw usageError('--min and --max belong to texts, numbers and --multi.');
  if (choice !== undefined) return choiceField(choice, flags);
  if (isNumber) {
    const { min: minimum, max: maximum } = flags;
    const bounds = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
    return { type: integer ? 'integer' : 'number', ...bounds };
  }
  if (confirm) return { type: 'boolean' };
  if (date) return { type: 'string', format: 'date' };
  const { min = 1, max } = flags;
  return { type: 'string', minLength: min, ...(max !== undefined && { maxLength: max }) };
}

function choiceField(
  choices: readonly string[],
  { multi, min, max }: AnswerFlags,
): FormSchemaInput['properties'][string] {
  if (multi !== true) {
    if ((min ?? max) !== undefined) throw usageError('--min and --max need --multi beside --choice.');
    return { type: 'string', enum: choices };
  }
  const counts = { ...(min !== undefined && { minItems: min }), ...(max !== undefined && { maxItems: max }) };
  return { type: 'array', items: { type: 'string', enum: choices }, ...counts };
}
