// Directional overrides and isolates, which make a text read as something it is not, and what shows as nothing.
const UNSEEN = /(?![\t\n\r])\p{Cc}|[\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Text of others as a person may see it: what would turn or hide other characters stands there by its number. */
export function readable(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const number = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${number}]`;
  });
}

/** Text of others on one line, for names. */
export function readableLine(text: string): string {
  return readable(text.replace(/\s+/gu, ' ').trim());
}
