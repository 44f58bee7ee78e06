/**
 * How text looks on a terminal: widths, line breaks, cuts and windows, as pure functions. What is written there, and when, is
 * decided by the prompts.
 */

import { styleText } from 'node:util';
import { readable } from '@parley/core/domain/readable';
import widthOf from 'fast-string-width';
import { charactersOf } from './editor.ts';

/** The size and the abilities of a terminal. */
export interface Surface {
  readonly columns: number;
  readonly rows: number;
  readonly hasColour: boolean;
  /** False for the Linux console, which has few symbols. */
  readonly hasSymbols: boolean;
}

const SYMBOLS = {
  open: ['◆', '*'],
  done: ['◇', 'o'],
  left: ['■', 'x'],
  wrong: ['▲', 'x'],
  bar: ['│', '|'],
  end: ['└', '-'],
  picked: ['●', '>'],
  unpicked: ['○', ' '],
  checked: ['◼', '[+]'],
  unchecked: ['◻', '[ ]'],
  pointer: ['❯', '>'],
  cursor: ['█', '_'],
} as const;

export function symbol({ hasSymbols }: Surface, name: keyof typeof SYMBOLS): string {
  return SYMBOLS[name][hasSymbols ? 0 : 1];
}

export function painted(
  { hasColour }: Surface,
  style: Parameters<typeof styleText>[0],
  text: string,
): string {
  return hasColour && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}

/** The number of columns that a text takes. */
export function columnsOf(text: string): number {
  return widthOf(text);
}

/** One character as drawn: a tab becomes a blank, and a character that could hide or reverse others is replaced by its name. */
export function drawn(character: string): string {
  return character === '\t' ? ' ' : readable(character);
}

/** A part of a text, from index `start` up to, but not including, `end`. */
export interface Row {
  readonly start: number;
  readonly end: number;
}

/** Breaks a text into rows of at most `width` columns. The rows do not include line breaks. */
export function rowsOf(text: string, width: number): readonly Row[] {
  const rows: Row[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    let [start, at, columns] = [offset, offset, 0];
    for (const character of charactersOf(line)) {
      const more = columnsOf(drawn(character));
      if (columns + more > width && at > start) {
        rows.push({ start, end: at });
        [start, columns] = [at, 0];
      }
      at += character.length;
      columns += more;
    }
    rows.push({ start, end: at });
    offset = at + 1;
  }
  return rows;
}

/** The rows of a text, broken between words if possible. */
export function wrapped(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const rows: string[] = [];
    let row = '';
    for (const word of line.match(/\s*\S+|\s+$/g) ?? ['']) {
      if (columnsOf(row + word) <= width) {
        row += word;
        continue;
      }
      if (row !== '') rows.push(row);
      const rest = row === '' ? word : word.trimStart();
      const pieces = rowsOf(rest, width).map(({ start, end }) => rest.slice(start, end));
      rows.push(...pieces.slice(0, -1));
      row = pieces.at(-1) ?? '';
    }
    return [...rows, row];
  });
}

/** A text in one row, cut with an ellipsis if it is too wide. */
export function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  const [first = { start: 0, end: 0 }] = rowsOf(text, Math.max(width - 1, 1));
  const kept = text.slice(first.start, first.end).trimEnd();
  return columnsOf(kept) < width ? `${kept}…` : '…';
}

/**
 * The rows of the parts that fit into `room` rows, around the part with the focus. Where parts are left out, above or below, a
 * row `more` says so.
 */
export function windowed(
  parts: readonly (readonly string[])[],
  focus: number,
  room: number,
  more: string,
): readonly string[] {
  const { start, end } = windowOf(
    parts.map(({ length }) => length),
    focus,
    room,
  );
  const rows = parts.slice(start, end).flat();
  // The focused part may leave no room for the `more` rows, or may be larger than the screen.
  if (end - start === 1 && rows.length + 2 > room) return rows.slice(0, room);
  return [...(start > 0 ? [more] : []), ...rows, ...(end < parts.length ? [more] : [])];
}

function windowOf(heights: readonly number[], focus: number, room: number): Row {
  const last = heights.length;
  const fits = (from: number, to: number) => {
    const rows = heights.slice(from, to).reduce((sum, height) => sum + height, 0);
    return from >= 0 && to <= last && rows + Number(from > 0) + Number(to < last) <= room;
  };
  let [start, end] = [focus, Math.min(focus + 1, last)];
  for (;;) {
    const isAboveShorter = focus - start < end - 1 - focus;
    if (fits(start - 1, end) && (isAboveShorter || !fits(start, end + 1))) start -= 1;
    else if (fits(start, end + 1)) end += 1;
    // The last two parts can only be added together: their rows replace both `more` rows.
    else if (fits(start - 1, end + 1)) [start, end] = [start - 1, end + 1];
    else return { start, end };
  }
}
