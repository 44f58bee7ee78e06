import { writeFile } from 'node:fs/promises';
import type { Terminal } from '../../harness/tmux.ts';

const COLUMNS = 72;
const ROWS = 30;
/** How long the last frame stays, in seconds. */
const END_S = 3;

/** A recording of two terminals side by side, in the format of asciinema (asciicast v2). */
export interface Cast {
  /** Adds what both terminals show now. */
  add(left: Terminal, right?: Terminal): Promise<void>;
  /** Writes the file, if there is one to write. */
  save(): Promise<void>;
}

/** Records to the file that `PARLEY_CAST` names; nothing without it. */
export function createCast(file: string | undefined = process.env.PARLEY_CAST): Cast {
  if (file === undefined) return { add: async () => undefined, save: async () => undefined };
  const began = performance.now();
  const events: (readonly [at: number, kind: 'o', data: string])[] = [];
  const secondsNow = () => Number(((performance.now() - began) / 1_000).toFixed(2));
  const show = (at: number, lines: readonly string[]) =>
    events.push([at, 'o', `\u001b[H\u001b[2J${lines.join('\r\n')}`]);
  let last: readonly string[] = [];
  return {
    async add(left, right) {
      const [ours, theirs] = [await linesOf(left), right === undefined ? [] : await linesOf(right)];
      last = Array.from({ length: ROWS }, (_, row) =>
        `${(ours[row] ?? '').padEnd(COLUMNS)}│ ${theirs[row] ?? ''}`.trimEnd(),
      );
      show(secondsNow(), last);
    },
    async save() {
      show(secondsNow() + END_S, last);
      const header = { version: 2, width: 2 * COLUMNS + 2, height: ROWS, title: 'Two commands' };
      await writeFile(file, `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`);
    },
  };
}

/** The last rows of a screen. Long lines are cut. */
async function linesOf(terminal: Terminal): Promise<readonly string[]> {
  const lines = (await terminal.screen()).trimEnd().split('\n');
  return lines.slice(-ROWS).map((line) => line.slice(0, COLUMNS));
}
