import type { LiveText } from '@parley/shared/domain/elicitations/wake';

/** What stands between two blocks of text in formats that know only one. */
export const BLOCK_GAP = '\n\n';

/** Text of several blocks that arrives in pieces, handed on without ever splitting a character. */
export interface Pieces {
  /** The text that can be sent now; the first half of a character waits for the second. */
  add(block: string, text: string): string;
  /** What is left of a block that gets no more text. */
  finish(block: string): string;
  /** What is left of all blocks. */
  finishAll(): readonly (readonly [block: string, text: string])[];
  /** Forgets what waits. */
  clear(): void;
}

/** Makes lone surrogates U+FFFD, and those that meet across pieces the character they are. */
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

/** A part of a text, and whether the reader has it already, because it resumed after it. */
export interface TextPiece {
  readonly text: string;
  readonly isKnown: boolean;
}

/**
 * What one reader has of the text that follows the turn's last event in its feed. Text comes live first, and then as the
 * beginning of the next event.
 */
interface TextAhead {
  /** The number of its characters. */
  readonly characters: number;
  /** True while the reader has text of before it resumed that has not come again. */
  readonly isKnown: boolean;
  /** Passes an event of the feed that is no text. The text before it is complete. */
  passEvent(position: string, isKnown: boolean): void;
  /** Passes a text of the feed. Returns what did not come live before. */
  passText(position: string, text: string, isKnown: boolean): readonly TextPiece[];
  /** Returns what is new of a live text; nothing of one that does not continue the text so far. */
  passLive(after: string, live: LiveText): readonly TextPiece[];
  /** Forgets everything, for a reader that starts over. */
  clear(): void;
}

/** `known`: the characters beyond the event after which the reader resumes that it has. */
export function createTextAhead(known = 0): TextAhead {
  let lastEvent: string | undefined;
  let passed = 0;
  let knownCharacters = known;

  /** What was not passed of a text that begins at `offset`, in two parts where the reader knows the first one. */
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
