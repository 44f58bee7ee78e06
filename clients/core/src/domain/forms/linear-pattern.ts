import { RE2JS } from 're2js';

/** The longest pattern that is compiled. RE2 limits repetitions, so this also limits the compiled size. */
export const PATTERN_LENGTH_MAX = 256;

/** A regular expression whose matching time is proportional to its size and to the length of the text. */
interface LinearPattern {
  /** The size in compiled instructions. */
  readonly size: number;
  /** Whether any part of the text matches, because patterns are not anchored. */
  isIn(text: string): boolean;
}

/**
 * Compiles an untrusted pattern in JavaScript syntax with RE2, which has neither look-around nor back-references. Throws for
 * other patterns.
 */
export function compileLinear(pattern: string): LinearPattern {
  if (pattern.length > PATTERN_LENGTH_MAX) throw new Error('The pattern is too long.');
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { size: compiled.programSize(), isIn: (text) => compiled.matcher(text).find() };
}
