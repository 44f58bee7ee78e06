import { RE2JS } from 're2js';

/** The longest pattern that is compiled. Repetitions are bounded by RE2, so that this bounds the compiled size. */
export const PATTERN_LENGTH_MAX = 256;

/** A regular expression that is matched in a time proportional to its size and to the text. */
interface LinearPattern {
  /** In compiled instructions. */
  readonly size: number;
  /** Whether some part of the text matches: patterns are not anchored. */
  isIn(text: string): boolean;
}

/**
 * Compiles a pattern that others wrote, in the syntax of JavaScript, with RE2: it has neither look-around nor
 * back-references. Throws for other patterns.
 */
export function compileLinear(pattern: string): LinearPattern {
  if (pattern.length > PATTERN_LENGTH_MAX) throw new Error('The pattern is too long.');
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { size: compiled.programSize(), isIn: (text) => compiled.matcher(text).find() };
}
