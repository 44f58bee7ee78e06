const NEWLINE = 10;

export interface LineOptions {
  readonly bytesMax: number;
  readonly onLine: (line: string) => void;
  /** Called when a line exceeds `bytesMax`. The rest of the line is skipped. */
  readonly onTooLong: () => void;
}

/** Splits chunks of UTF-8 into lines, without line endings. */
export function createLineReader({ bytesMax, onLine, onTooLong }: LineOptions): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  let isSkipping = false;

  function take(part: Buffer): void {
    if (isSkipping) return;
    parts.push(part);
    size += part.length;
    if (size <= bytesMax) return;
    parts = [];
    isSkipping = true;
    onTooLong();
  }

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      const line = isSkipping ? undefined : Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
      parts = [];
      size = 0;
      isSkipping = false;
      start = end + 1;
      if (line !== undefined) onLine(line);
    }
    if (start < chunk.length) take(chunk.subarray(start));
  };
}
