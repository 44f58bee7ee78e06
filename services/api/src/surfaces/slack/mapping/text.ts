/** Escapes, cuts and measures texts for Slack. What is shown is decided by the other mappings. */

import { readableLine } from '@parley/core/domain/readable';

/** The maximum length of a section block. */
const SECTION_MAX = 3_000;

/** Text from others for mrkdwn: `&`, `<` and `>` are escaped, so that it contains no mention, link or command. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The beginning of a text, at most `most` UTF-16 units long, with an ellipsis if it was cut. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  // A half surrogate pair at the end is removed.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

/** A name that others chose, on one line without hidden characters; `–` if nothing is visible. */
export function lineText(text: string, most: number): string {
  return clipped(readableLine(text) || '–', most);
}

/** The maximum length of the name of an agent, a tool or a server. */
export const NAME_MAX = 150;

/** A name that others chose, as mrkdwn that may be placed between formatting characters. */
export function nameText(name: string): string {
  return escaped(clipped(readableLine(name).replaceAll('`', "'").replaceAll('*', '∗'), NAME_MAX));
}

/**
 * Splits a text into pieces of at most `most` units. `lengthOf` gives the units of a character. A piece ends at a line break,
 * or else at a space, if there is one in its last third. When the text grows, earlier pieces do not change.
 */
export function piecesOf(text: string, most = SECTION_MAX, lengthOf = escapedLength): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(pieces.at(-1)?.length))
    pieces.push(rest.slice(0, endOfPiece(rest, most, lengthOf)));
  return pieces.length === 0 ? [''] : pieces;
}

/** The beginning of a text, at most `most` units long, which ends like a piece. */
export function headOf(text: string, most: number): string {
  const end = most <= 0 ? 0 : endOfPiece(text, most, ({ length }) => length);
  return text.slice(0, end);
}

const ESCAPED_LENGTHS: Readonly<Record<string, number>> = { '&': 5, '<': 4, '>': 4 };

/** The length of a character after escaping. */
function escapedLength(character: string): number {
  return ESCAPED_LENGTHS[character] ?? character.length;
}

/** The length of a character in JSON. */
export function jsonLength(character: string): number {
  return character >= ' ' && character !== '"' && character !== '\\' && character.isWellFormed()
    ? character.length
    : JSON.stringify(character).length - 2;
}

function endOfPiece(text: string, most: number, lengthOf: (character: string) => number): number {
  let units = 0;
  let end = 0;
  for (const character of text) {
    units += lengthOf(character);
    if (units > most) break;
    end += character.length;
  }
  if (end === text.length) return end;
  for (const mark of ['\n', ' ']) {
    const at = text.lastIndexOf(mark, end - 1);
    if (at >= (end * 2) / 3) return at + 1;
  }
  return end;
}

/**
 * The maximum length of all blocks of a message together, as JSON. Slack does not document the limit, and refuses about 13,200
 * characters.
 */
export const BLOCKS_MAX = 12_000;
/** How much of a question's text fits into a message, as JSON. The rest is for its title, buttons and state. */
const TEXTS_MAX = BLOCKS_MAX - 3_000;

/** Texts as the sections of a message. They end with an ellipsis if not everything fits. */
export function messagePieces(...texts: readonly string[]): string[] {
  const pieces: string[] = [];
  let size = 0;
  for (const piece of texts.flatMap((text) => piecesOf(text, 2_900))) {
    size += sizeOf(piece);
    if (size > TEXTS_MAX) return [...pieces, '…'];
    pieces.push(piece);
  }
  return pieces;
}

/** True if `messagePieces` would contain these texts completely. */
export function fitsMessage(...texts: readonly string[]): boolean {
  return texts.reduce((size, text) => size + sizeOf(text), 0) <= TEXTS_MAX;
}

/** The beginning of a text that takes about `most` characters in a message, with an ellipsis if it was cut. */
export function clippedToSize(text: string, most: number): string {
  if (sizeOf(text) <= most) return text;
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += sizeOf(character) - 2;
    if (size > most) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}

/** The length of a text as JSON, the form in which Slack gets it. */
function sizeOf(text: string): number {
  return JSON.stringify(escaped(text)).length;
}

/** A time in the reader's time zone. */
export function dateText(ms: number): string {
  const fallback = new Date(ms).toISOString().replace('T', ' ').slice(0, 16);
  return `<!date^${Math.floor(ms / 1000)}^{date_short_pretty} {time}|${fallback} UTC>`;
}
