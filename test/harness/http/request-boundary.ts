/**
 * Follows the bytes a client sends to Redis just far enough to know whether they stop between two commands:
 * `*<count>` and then `$<length>` with its payload for each argument, or a plain line.
 */
export function createRequestBoundary(): { feed(chunk: Buffer): void; atBoundary(): boolean } {
  let line = '';
  let argumentsLeft = 0;
  let payloadLeft = 0;
  const endOfLine = (text: string) => {
    if (argumentsLeft > 0) payloadLeft = Number(text.slice(1)) + 2;
    else if (text.startsWith('*')) argumentsLeft = Math.max(Number(text.slice(1)), 0);
  };
  return {
    feed(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (payloadLeft > 0) {
          const taken = Math.min(payloadLeft, chunk.length - at);
          at += taken;
          payloadLeft -= taken;
          if (payloadLeft === 0) argumentsLeft -= 1;
          continue;
        }
        const newline = chunk.indexOf('\n', at);
        line += chunk.toString('latin1', at, newline < 0 ? chunk.length : newline);
        if (newline < 0) return;
        at = newline + 1;
        endOfLine(line.trim());
        line = '';
      }
    },
    atBoundary: () => argumentsLeft === 0 && payloadLeft === 0 && line === '',
  };
}
