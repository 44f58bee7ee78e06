/** Checks of text that people will read and that Redis must return unchanged. */

// Directional overrides and isolates can make a text read differently from what it contains.
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/u;
// Line breaks and tabs are ordinary in a message; other control characters are not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const ANY_CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** Length in code points, as JSON Schema counts it. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Normalises all kinds of line breaks to the one that an HTML input uses. */
export function plainBreaks(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** The fault of a text that people will read, or undefined. */
export function faultOfProse(text: string, lengthMax: number): string | undefined {
  // The cheap check comes first: a text never has more code points than code units.
  if (text.length > lengthMax && lengthOf(text) > lengthMax) {
    return `must be at most ${lengthMax} characters`;
  }
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it holds a lone surrogate)';
  if (CONTROLS.test(text)) return 'must not contain control characters';
  if (BIDI_CONTROLS.test(text)) return 'must not contain bidirectional control characters';
  return undefined;
}

/** The fault of a user id, or undefined. A valid one has 1 to 255 code points and no control characters. */
export function faultOfUserId(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (text.length > 510 || lengthOf(text) > 255) return 'must be at most 255 characters';
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it holds a lone surrogate)';
  if (ANY_CONTROL.test(text)) return 'must not contain control characters';
  return undefined;
}

/** A time in the form that callers read (ISO 8601). */
export function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
