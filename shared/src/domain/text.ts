/** Checks of text that people will read and that Redis must give back unchanged. */

// Directional overrides and isolates can make a question read as something it is not.
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/u;
// Line breaks and tabs are ordinary in a message; other control characters are not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const ANY_CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** Length in code points, as JSON Schema counts it. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** What is wrong with text meant for a person, or nothing. */
export function faultOfProse(text: string, lengthMax: number): string | undefined {
  // A cheap bound first: code points are at most code units.
  if (text.length > lengthMax && lengthOf(text) > lengthMax) {
    return `must be at most ${lengthMax} characters`;
  }
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it holds a lone surrogate)';
  if (CONTROLS.test(text)) return 'must not contain control characters';
  if (BIDI_CONTROLS.test(text)) return 'must not contain bidirectional control characters';
  return undefined;
}

/** What is wrong with a user id (1 to 255 code points, no control characters), or nothing. */
export function faultOfUserId(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (text.length > 510 || lengthOf(text) > 255) return 'must be at most 255 characters';
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it holds a lone surrogate)';
  if (ANY_CONTROL.test(text)) return 'must not contain control characters';
  return undefined;
}
