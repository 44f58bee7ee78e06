import { type TextFormat, textOfFormat } from './formats.ts';

/** The messages of rules without a parameter. */
const PLAIN = {
  required: 'is required',
  string: 'must be a string',
  boolean: 'must be true or false',
  number: 'must be a number',
  integer: 'must be a whole number',
  safe: 'must be between -(2^53 - 1) and 2^53 - 1',
  list: 'must be a list of choices',
  choice: 'must be one of the choices',
  offered: 'must hold offered choices only',
  once: 'must hold each choice once at most',
  unicode: 'must be well-formed Unicode (it holds a lone surrogate)',
  nul: 'must not contain the NUL character',
} as const;

/** The messages of rules with a limit, as the texts before and after the number. */
const LIMITED = {
  minLength: ['must be at least', ' characters'],
  maxLength: ['must be at most', ' characters'],
  minimum: ['must be at least', ''],
  maximum: ['must be at most', ''],
  minItems: ['must hold at least', ' choices'],
  maxItems: ['must hold at most', ' choices'],
} as const;

type PlainRule = keyof typeof PLAIN;
type LimitRule = keyof typeof LIMITED;

/** The rule that a value violates. It never contains the value. */
export type Fault =
  | { readonly rule: PlainRule }
  | { readonly rule: LimitRule; readonly limit: number }
  | { readonly rule: 'format'; readonly format: TextFormat };

/** The message for a fault, in English. */
export function textOfFault(fault: Fault): string {
  if (fault.rule === 'format') return textOfFormat(fault.format);
  if (!('limit' in fault)) return PLAIN[fault.rule];
  const [before, after] = LIMITED[fault.rule];
  return `${before} ${fault.limit}${after}`;
}
