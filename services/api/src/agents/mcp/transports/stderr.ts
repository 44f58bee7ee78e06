import type { Scrub } from '../scrub.ts';
import { createLineReader } from './lines.ts';

const LINE_MAX = 500;
const LINES_MAX = 60;
const WINDOW_MS = 60_000;

/**
 * Reads what a child process writes to stderr, as lines: with secrets removed, at most 500 characters a line and 60 lines
 * a minute. One further line reports that more lines were dropped.
 */
export function createStderrReader(scrub: Scrub, onLine: (line: string) => void): (chunk: Buffer) => void {
  let since = performance.now();
  let count = 0;

  const emit = (line: string) => {
    const now = performance.now();
    if (now - since > WINDOW_MS) {
      since = now;
      count = 0;
    }
    count += 1;
    if (count <= LINES_MAX) onLine(scrub.text(line).slice(0, LINE_MAX));
    else if (count === LINES_MAX + 1) onLine('(more is left out for the rest of the minute)');
  };
  return createLineReader({
    // Lines are truncated only after secrets are removed, because a secret that is cut in two would not be recognized.
    bytesMax: 100 * LINE_MAX,
    onLine: (line) => {
      if (line !== '') emit(line);
    },
    onTooLong: () => emit('(a line too long to show)'),
  });
}
