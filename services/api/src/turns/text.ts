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
