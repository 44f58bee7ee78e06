const DONE = /^data: ?\[DONE\]/;
const DATA = /^data: ?\{/;
const FINISHED = /"finish_reason"\s*:\s*"/;
const NO_CHOICES = /"choices"\s*:\s*null/;
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

/** Rewrites the event stream of a chat completion, piece by piece. */
export interface ChatEvents {
  /** Returns the lines that these bytes complete. */
  push(bytes: Buffer): Buffer;
  /** Returns the rest at the end of the stream. */
  end(): Buffer;
}

/**
 * Adapts event streams of chat completions from deviating servers to the SDK: chunks whose `choices` are absent or null, such
 * as those with only the usage, and replies that end with `[DONE]` without a `finish_reason`. A stream that ends with neither
 * was cut off and stays unchanged.
 */
export function createChatEvents(): ChatEvents {
  let isFinished = false;
  let rest = '';

  function rewrite(line: string): string {
    if (DONE.test(line)) return isFinished ? line : `${END}${line}`;
    if (!DATA.test(line)) return line;
    isFinished ||= FINISHED.test(line);
    if (line.includes('"error"')) return line;
    if (line.includes('"choices"')) return line.replace(NO_CHOICES, '"choices":[]');
    return line.replace('{', /\{\s*\}/.test(line) ? '{"choices":[]' : '{"choices":[],');
  }

  // One character per byte: the searched texts are ASCII, and a piece may end within a character.
  return {
    push(bytes) {
      const lines = `${rest}${bytes.toString('latin1')}`.split('\n');
      rest = lines.pop() ?? '';
      return Buffer.from(lines.map((line) => `${rewrite(line)}\n`).join(''), 'latin1');
    },
    end: () => Buffer.from(rewrite(rest), 'latin1'),
  };
}
