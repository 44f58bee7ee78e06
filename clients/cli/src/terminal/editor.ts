/** Editing a text by keys, as pure functions on the text and its cursor. Drawing the text is in `entry.ts`. */

import type { Key } from 'node:readline';

/** A text that is being typed, and the cursor as an index of UTF-16 units between two graphemes. */
export interface TypedText {
  readonly text: string;
  readonly cursor: number;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The length of the pieces in which a text is divided into graphemes, in UTF-16 units. */
const PIECE = 1_024;

/** Divides a text into what a person sees as characters (graphemes). */
export function charactersOf(text: string): readonly string[] {
  if (/^[\u0020-\u007e]*$/.test(text)) return [...text];
  const characters: string[] = [];
  // In V8, each segment copies the text that was divided, so a long text is divided in pieces.
  for (let start = 0; start < text.length; ) {
    const piece = [...graphemes.segment(text.slice(start, start + PIECE))].map(({ segment }) => segment);
    // The last character of a piece may continue in the next one.
    if (start + PIECE < text.length && piece.length > 1) piece.pop();
    for (const character of piece) start += character.length;
    characters.push(...piece);
  }
  return characters;
}

/** A text without its last line break: copying whole lines adds one, and no answer needs it. */
export function withoutLastBreak(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Inserts typed or pasted text. In a one-line text, line breaks become blanks. Other control characters are dropped. */
export function inserted({ text, cursor }: TypedText, typed: string, takesLines: boolean): TypedText {
  const lines = takesLines ? typed : onOneLine(typed);
  const added = lines.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

function onOneLine(typed: string): string {
  if (!typed.includes('\n')) return typed;
  const lines = typed.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

type Move = (draft: TypedText) => number;

const toLeft: Move = ({ text, cursor }) => {
  const before = text.slice(0, cursor);
  return cursor - (charactersOf(before.slice(-CLUSTER_MAX)).at(-1)?.length ?? 0);
};
const toRight: Move = ({ text, cursor }) =>
  cursor + (charactersOf(text.slice(cursor, cursor + CLUSTER_MAX))[0]?.length ?? 0);
const toLineStart: Move = ({ text, cursor }) => text.slice(0, cursor).lastIndexOf('\n') + 1;
const toLineEnd: Move = ({ text, cursor }) => {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
};
const toWordStart: Move = ({ text, cursor }) => {
  const before = text.slice(0, cursor).trimEnd();
  return Math.max(...[' ', '\t', '\n'].map((blank) => before.lastIndexOf(blank))) + 1;
};
const toWordEnd: Move = ({ text, cursor }) => cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
const toLineAbove: Move = (draft) => {
  const start = toLineStart(draft);
  if (start === 0) return 0;
  const above = toLineStart({ ...draft, cursor: start - 1 });
  return Math.min(above + draft.cursor - start, start - 1);
};
const toLineBelow: Move = (draft) => {
  const end = toLineEnd(draft);
  if (end === draft.text.length) return end;
  const column = draft.cursor - toLineStart(draft);
  return Math.min(end + 1 + column, toLineEnd({ ...draft, cursor: end + 1 }));
};

/** This is longer than any character that people type, in UTF-16 units. */
const CLUSTER_MAX = 64;

const MOVES: Readonly<Record<string, Move>> = {
  ...{ left: toLeft, right: toRight, up: toLineAbove, down: toLineBelow, home: toLineStart, end: toLineEnd },
  ...{ 'ctrl+b': toLeft, 'ctrl+f': toRight, 'ctrl+a': toLineStart, 'ctrl+e': toLineEnd },
  ...{ 'ctrl+left': toWordStart, 'ctrl+right': toWordEnd, 'meta+b': toWordStart, 'meta+f': toWordEnd },
};
/** The keys that erase. Each erases from the cursor to the place where its move would lead. */
const ERASERS: Readonly<Record<string, Move>> = {
  ...{ backspace: toLeft, 'ctrl+h': toLeft, delete: toRight, 'ctrl+u': toLineStart, 'ctrl+k': toLineEnd },
  ...{ 'ctrl+w': toWordStart, 'meta+backspace': toWordStart, 'meta+d': toWordEnd },
};

/** Whether a key breaks the line: Ctrl+J, and Enter with Alt. */
export function breaksLine({ name, meta }: Key): boolean {
  return name === 'enter' || (name === 'return' && meta === true);
}

/** The text after one key. A key without a meaning changes nothing. */
export function edited(
  draft: TypedText,
  typed: string | undefined,
  key: Key,
  takesLines: boolean,
): TypedText {
  if (breaksLine(key)) return takesLines ? inserted(draft, '\n', true) : draft;
  const name = `${key.ctrl === true ? 'ctrl+' : ''}${key.meta === true ? 'meta+' : ''}${key.name}`;
  const move = MOVES[name];
  if (move !== undefined) return { ...draft, cursor: cleanCut(draft.text, move(draft)) };
  const erase = ERASERS[name];
  if (erase === undefined)
    return typed === undefined || key.meta === true ? draft : inserted(draft, typed, false);
  const other = erase(draft);
  const [from, to] = [Math.min(other, draft.cursor), Math.max(other, draft.cursor)];
  return { text: draft.text.slice(0, from) + draft.text.slice(to), cursor: from };
}

/** The nearest index at or before `at` that does not split a surrogate pair. */
function cleanCut(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && at > 0 ? at - 1 : at;
}
