import { type TextFormat, textOfFormat } from './formats.ts';

/** Rules whose breach says all there is to say. */
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

/** Rules that know a limit: what comes before the number, and after it. */
const LIMITED = {
  minLength: ['must be at least', ' characters'],
  maxLength: ['must be at most', ' characters'],
  minimum: ['must be at least', ''],
  maximum: ['must be at most', ''],
  minItems: ['must hold at least', ' choices'],
  maxItems: ['must hold at most', ' choices'],
} as const;

export type PlainRule = keyof typeof PLAIN;
export type LimitRule = keyof typeof LIMITED;

/** Why a value does not fit its field: the rule it breaks. It never holds the value. */
export type Fault =
  | { readonly rule: PlainRule }
  | { readonly rule: LimitRule; readonly limit: number }
  | { readonly rule: 'format'; readonly format: TextFormat };

/** A fault as the server says it, in English. */
export function textOfFault(fault: Fault): string {
  if (fault.rule === 'format') return textOfFormat(fault.format);
  if (!('limit' in fault)) return PLAIN[fault.rule];
  const [before, after] = LIMITED[fault.rule];
  return `${before} ${fault.limit}${after}`;
}
