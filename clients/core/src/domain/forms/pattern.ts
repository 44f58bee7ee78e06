import { compileLinear, PATTERN_LENGTH_MAX } from './linear-pattern.ts';
import { isMultipleOf } from './step.ts';
import type { FormField, FormValue } from './value.ts';

/** The size of all patterns of a form together, in instructions of the compiled expressions. */
export const PATTERN_SIZE_MAX = 500;
/** The longest text that a field with a pattern accepts. Matching takes a time proportional to this and to the size. */
const MATCHED_LENGTH_MAX = 1_000;

/**
 * The size of a `pattern` in compiled instructions, or why it cannot be used. Patterns come from others, so they are
 * matched in linear time, by RE2: it has neither look-around nor back-references.
 */
export function sizeOfPattern(pattern: string): number | { readonly fault: string } {
  if (pattern.length > PATTERN_LENGTH_MAX)
    return { fault: `must be at most ${PATTERN_LENGTH_MAX} characters` };
  try {
    return compileLinear(pattern).size;
  } catch {
    return { fault: 'must be a regular expression without look-around and back-references' };
  }
}

/** The message for a value that does not match the pattern of its field, or is no multiple of what its field demands. */
export function faultOfMatch(field: FormField, value: FormValue): string | undefined {
  if ('multipleOf' in field && field.multipleOf !== undefined && typeof value === 'number')
    return isMultipleOf(value, field.multipleOf) ? undefined : `must be a multiple of ${field.multipleOf}`;
  if (!('pattern' in field) || field.pattern === undefined || typeof value !== 'string') return undefined;
  if (value.length > MATCHED_LENGTH_MAX) return `must be at most ${MATCHED_LENGTH_MAX} characters`;
  // JSON Schema does not anchor patterns.
  return compileLinear(field.pattern).isIn(value) ? undefined : `must match ${field.pattern}`;
}
