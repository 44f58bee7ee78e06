/**
 * The bytes of a text in base64 as clients write it: in the usual alphabet or the one for URLs, in lines, percent-encoded, with
 * or without padding. Nothing for any other text, or for one without bytes.
 */
export function bytesOfBase64(text: string): Buffer | undefined {
  const written = text.includes('%') ? decoded(text) : text;
  const digits = withoutPadding(written?.replace(/\s/gu, '').replaceAll('-', '+').replaceAll('_', '/') ?? '');
  const bytes = Buffer.from(digits, 'base64');
  // Node skips what is no digit.
  return digits !== '' && withoutPadding(bytes.toString('base64')) === digits ? bytes : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

// An expression for the end of a text would take a time by the square of its length.
function withoutPadding(text: string): string {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.slice(0, text.length - padding);
}
