import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import {
  LEFT,
  type Left,
  type MultiSelectPrompt,
  type Screen,
  type ScreenOption,
  type SelectPrompt,
  type TerminalStreams,
  type TextPrompt,
} from './screen.ts';

/** Prompts of plain lines for screen readers: numbered choices, no drawing over earlier lines, nothing that moves. */
export function createPlainScreen(streams: TerminalStreams): Screen {
  const { output } = streams;
  const write = (line: string) => void output.write(`${line}\n`);

  function introduce({ label, description }: { label: string; description?: string | undefined }): void {
    write(label);
    if (description !== undefined) write(description);
  }

  /** Asks for lines until one is right. */
  async function ask<Value>(
    question: { readonly hint: string; readonly isHidden?: boolean },
    read: (line: string) => { readonly value: Value } | { readonly fault: string },
    signal: AbortSignal,
  ): Promise<Value | Left> {
    for (;;) {
      const line = await readLine(streams, question, signal);
      if (line === LEFT) return LEFT;
      const result = read(line);
      if ('value' in result) return result.value;
      write(`Not accepted: ${result.fault}.`);
    }
  }

  function askText(prompt: TextPrompt, isHidden: boolean, signal: AbortSignal): Promise<string | Left> {
    introduce(prompt);
    const initial = isHidden ? undefined : prompt.initial;
    const preset = initial === undefined ? '' : ` (empty for ${initial})`;
    const hint = isHidden ? 'Type it; it is not shown: ' : `Answer${preset}: `;
    return ask(
      { hint, isHidden },
      (line) => {
        const value = line === '' ? (initial ?? '') : line;
        const fault = prompt.validate(value);
        return fault === undefined ? { value } : { fault };
      },
      signal,
    );
  }

  return {
    say: write,
    text: (prompt, signal) => askText(prompt, false, signal),
    hidden: (prompt, signal) => askText(prompt, true, signal),
    select<Value>(prompt: SelectPrompt<Value>, signal: AbortSignal): Promise<Value | Left> {
      introduce(prompt);
      list(prompt.options, write);
      const preset = prompt.options.findIndex(({ value }) => value === prompt.initial);
      const { isSensitive: isHidden = false } = prompt;
      const shown = isHidden ? 'Number; it is not shown' : 'Number';
      const hint = preset < 0 ? `${shown}: ` : `${shown} (empty for ${preset + 1}): `;
      return ask(
        { hint, isHidden },
        (line) => {
          const option = prompt.options[line.trim() === '' ? preset : Number(line.trim()) - 1];
          return option ?? { fault: `type a number from 1 to ${prompt.options.length}` };
        },
        signal,
      );
    },
    multiSelect(prompt: MultiSelectPrompt, signal) {
      introduce(prompt);
      list(prompt.options, write);
      const { isSensitive: isHidden = false } = prompt;
      const note = isHidden ? '; they are not shown' : '';
      return ask(
        { hint: `Numbers with blanks between them, empty for none${note}: `, isHidden },
        (line) => {
          const numbers = line.split(/[\s,]+/).filter((part) => part !== '');
          const options = numbers.map((number) => prompt.options[Number(number) - 1]);
          if (options.includes(undefined))
            return { fault: `type numbers from 1 to ${prompt.options.length}` };
          const value = [...new Set(options.flatMap((option) => option?.value ?? []))];
          const fault = prompt.validate(value);
          return fault === undefined ? { value } : { fault };
        },
        signal,
      );
    },
    redraw: () => undefined,
  };
}

function list(options: readonly ScreenOption<unknown>[], write: (line: string) => void): void {
  for (const [index, { label }] of options.entries()) write(`${index + 1}. ${label}`);
}

/** Reads one line. A hidden line is not shown while it is typed, and no history keeps it. */
function readLine(
  { input, output }: TerminalStreams,
  { hint, isHidden = false }: { readonly hint: string; readonly isHidden?: boolean },
  signal: AbortSignal,
): Promise<string | Left> {
  if (signal.aborted) return Promise.resolve(LEFT);
  output.write(hint);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input,
    output: isHidden ? nowhere : output,
    terminal: input.isTTY === true,
    historySize: 0,
  });
  // Without a prompt of its own, a redrawn line would lose the hint.
  lines.setPrompt(isHidden ? '' : hint);
  return new Promise((resolve) => {
    const end = (result: string | Left) => {
      signal.removeEventListener('abort', leave);
      lines.off('line', end);
      lines.off('close', leave);
      lines.close();
      if (isHidden || result === LEFT) output.write('\n');
      resolve(result);
    };
    const leave = () => end(LEFT);
    signal.addEventListener('abort', leave, { once: true });
    lines.once('line', end);
    lines.once('SIGINT', leave);
    lines.once('close', leave);
  });
}
