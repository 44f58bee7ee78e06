import type { Scrub } from '../calls/scrub.ts';
import { createLineReader } from './lines.ts';

const LINE_MAX = 500;
const LINES_MAX = 60;
const WINDOW_MS = 60_000;

/**
 * What a child says on stderr, as lines: without the secrets it was given, 500 characters of each, and at most 60 in a
 * minute, then one that says that there are more.
 */
export function createStderrReader(scrub: Scrub, onLine: (line: string) => void): (chunk: Buffer) => void {
  let since = performance.now();
  let count = 0;

  const say = (line: string) => {
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
    // Cut only after the scrubbing, or half a secret might be left standing.
    bytesMax: 100 * LINE_MAX,
    onLine: (line) => {
      if (line !== '') say(line);
    },
    onTooLong: () => say('(a line too long to show)'),
  });
}
