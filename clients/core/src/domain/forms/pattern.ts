import { compileLinear, PATTERN_LENGTH_MAX } from './linear-pattern.ts';
import { isMultipleOf } from './step.ts';
import type { FormField, FormValue } from './value.ts';

/** The maximum size of all patterns of a form together, in compiled instructions. */
export const PATTERN_SIZE_MAX = 500;
/**
 * The longest text that a field with a pattern accepts. The matching time is proportional to this length and to the pattern's
 * size.
 */
const MATCHED_LENGTH_MAX = 1_000;

/**
 * The size of a `pattern` in compiled instructions, or why it cannot be used. Patterns are untrusted, so RE2 matches them in
 * linear time; it has neither look-around nor back-references.
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

/**
 * The message for a value that does not match its field's pattern, or is no multiple of the required step; undefined for any
 * other value.
 */
export function faultOfMatch(field: FormField, value: FormValue): string | undefined {
  if ('multipleOf' in field && field.multipleOf !== undefined && typeof value === 'number')
    return isMultipleOf(value, field.multipleOf) ? undefined : `must be a multiple of ${field.multipleOf}`;
  if (!('pattern' in field) || field.pattern === undefined || typeof value !== 'string') return undefined;
  if (value.length > MATCHED_LENGTH_MAX) return `must be at most ${MATCHED_LENGTH_MAX} characters`;
  // JSON Schema does not anchor patterns.
  return compileLinear(field.pattern).isIn(value) ? undefined : `must match ${field.pattern}`;
}
