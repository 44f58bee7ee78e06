/**
 * Keeps track of the text that one reader has, live and from the feed, without splitting characters. Following the feed is in
 * `follow.ts`.
 */

import type { LiveText } from '@parley/shared/domain/elicitations/wake';

/** Separates two blocks of text in formats that have only one block. */
export const BLOCK_GAP = '\n\n';

/** Text of several blocks that arrives in pieces. It is passed on without splitting a character. */
export interface Pieces {
  /** Returns the text that can be sent now. The first half of a character is kept until the second arrives. */
  add(block: string, text: string): string;
  /** Returns the rest of a block that gets no more text. */
  finish(block: string): string;
  /** Returns the rest of all blocks. */
  finishAll(): readonly (readonly [block: string, text: string])[];
  /** Discards the text that is kept. */
  clear(): void;
}

/** Replaces lone surrogates by U+FFFD. Halves of a character in two pieces are joined. */
export function createPieces(): Pieces {
  const waiting = new Map<string, string>();
  const finish = (block: string): string => {
    const rest = waiting.get(block) ?? '';
    waiting.delete(block);
    return rest.toWellFormed();
  };
  return {
    add(block, text) {
      const all = (waiting.get(block) ?? '') + text;
      const halved = /[\ud800-\udbff]$/.test(all);
      if (halved) waiting.set(block, all.slice(-1));
      else waiting.delete(block);
      return (halved ? all.slice(0, -1) : all).toWellFormed();
    },
    finish,
    finishAll: () => [...waiting.keys()].map((block) => [block, finish(block)] as const),
    clear: () => waiting.clear(),
  };
}

/** A part of a text, and whether the reader already has it because it resumed after it. */
export interface TextPiece {
  readonly text: string;
  readonly isKnown: boolean;
}

/**
 * The text that one reader has after the turn's last event in its feed. Text arrives live first, and then again as the
 * beginning of the next event.
 */
interface TextAhead {
  /** The number of characters that the reader has. */
  readonly characters: number;
  /** True while the reader still has text from before it resumed that has not arrived again. */
  readonly isKnown: boolean;
  /** Reads an event of the feed that is not text. The text before it is complete. */
  passEvent(position: string, isKnown: boolean): void;
  /** Reads a text of the feed. Returns the part that did not arrive live before. */
  passText(position: string, text: string, isKnown: boolean): readonly TextPiece[];
  /** Returns the new part of a live text; empty if the text does not continue the text so far. */
  passLive(after: string, live: LiveText): readonly TextPiece[];
  /** Discards everything, for a reader that starts from the beginning. */
  clear(): void;
}

/** `known`: how many characters the reader has beyond the event after which it resumes. */
export function createTextAhead(known = 0): TextAhead {
  let lastEvent: string | undefined;
  let passed = 0;
  let knownCharacters = known;

  /** The part of a text beginning at `offset` that was not returned yet, in two parts if the reader knows the first. */
  function cut(text: string, offset: number): TextPiece[] {
    const from = passed - offset;
    const at = Math.max(from, knownCharacters - offset);
    return [
      { text: text.slice(from, at), isKnown: true },
      { text: text.slice(at), isKnown: false },
    ].filter((piece) => piece.text !== '');
  }

  return {
    get characters() {
      return Math.max(passed, knownCharacters);
    },
    get isKnown() {
      return knownCharacters > passed;
    },
    passEvent(position, isKnown) {
      lastEvent = position;
      passed = 0;
      if (!isKnown) knownCharacters = 0;
    },
    passText(position, text, isKnown) {
      const pieces = isKnown ? [{ text, isKnown }] : cut(text, 0);
      lastEvent = position;
      passed = Math.max(0, passed - text.length);
      if (!isKnown) knownCharacters = Math.max(0, knownCharacters - text.length);
      return pieces;
    },
    passLive(after, { offset, text }) {
      if (after !== lastEvent || offset > passed) return [];
      const pieces = cut(text, offset);
      passed = Math.max(passed, offset + text.length);
      return pieces;
    },
    clear() {
      lastEvent = undefined;
      passed = 0;
      knownCharacters = 0;
    },
  };
}
