/**
 * The number that a person typed, in plain or scientific notation. Undefined for other notations, such as hexadecimal or
 * grouped digits. A text with a fraction is no integer, even if it would be rounded to one.
 */
export function readTypedNumber(kind: 'number' | 'integer', text: string): number | undefined {
  const plain = text.replace(/^\u2212/, '-');
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return undefined;
  if (kind === 'integer' && isTypedFraction(plain)) return undefined;
  return Number(plain);
}

/** True for a typed number with digits other than zero after its decimal point. */
export function isTypedFraction(text: string): boolean {
  const [fraction = ''] = /\.\d*$/.exec(text) ?? [];
  return /[1-9]/.test(fraction);
}
