/**
 * Decodes base64 as clients write it: in the standard or the URL alphabet, in lines, percent-encoded, with or without padding.
 * Undefined for any other text, and for a text without bytes.
 */
export function bytesOfBase64(text: string): Buffer | undefined {
  const written = text.includes('%') ? decoded(text) : text;
  const digits = withoutPadding(written?.replace(/\s/gu, '').replaceAll('-', '+').replaceAll('_', '/') ?? '');
  const bytes = Buffer.from(digits, 'base64');
  // Node skips characters that are not base64 digits.
  return digits !== '' && withoutPadding(bytes.toString('base64')) === digits ? bytes : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

// A regular expression for the end of a text would take quadratic time.
function withoutPadding(text: string): string {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.slice(0, text.length - padding);
}
