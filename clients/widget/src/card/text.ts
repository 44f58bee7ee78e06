// Directional overrides and isolates, which can reverse a text, and invisible characters.
const UNSEEN = /(?![\t\n\r])\p{Cc}|[\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Foreign text made safe to show: characters that reverse or hide text are replaced by their code points. */
export function readable(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const number = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${number}]`;
  });
}

/** Foreign text on one line, for names. */
export function readableLine(text: string): string {
  return readable(text.replace(/\s+/gu, ' ').trim());
}
