/** Prompts as plain lines, for screen readers and simple terminals. The prompts that are redrawn are in `drawn-screen.ts`. */

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { readableLine } from '@parley/core/domain/readable';
import { inserted, withoutLastBreak } from './editor.ts';
import { createKeys, type Keys } from './keys.ts';
import {
  LEFT,
  type Left,
  labelOf,
  type MultiSelectPrompt,
  type Screen,
  type ScreenOption,
  type SelectPrompt,
  type TerminalStreams,
  type TextPrompt,
} from './screen.ts';

/** A screen of plain lines for screen readers: numbered choices, and nothing that moves or is redrawn. */
export function createPlainScreen(streams: TerminalStreams): Screen {
  const { output } = streams;
  const keys = createKeys(streams);
  const write = (line: string) => void output.write(`${line}\n`);

  /** Asks for lines until the input is valid. */
  async function ask<Value>(
    question: LineOptions,
    read: (line: string) => { readonly value: Value } | { readonly fault: string },
    signal: AbortSignal,
  ): Promise<Value | Left> {
    let { introduction } = question;
    for (;;) {
      const line = await readText(keys, output, { ...question, introduction }, signal);
      if (line === LEFT) return LEFT;
      const result = read(line);
      if ('value' in result) return result.value;
      introduction = [`Not accepted: ${result.fault}.`];
    }
  }

  function askText(prompt: TextPrompt, isHidden: boolean, signal: AbortSignal): Promise<string | Left> {
    const { initial } = prompt;
    const preset = initial === undefined ? '' : ` (empty for ${readableLine(initial)})`;
    const { takesLines = false, hasLines = false } = prompt;
    const lines = hasLines ? ', of several lines; an empty line ends it' : '';
    const hint = isHidden ? 'Type it; it is not shown: ' : `Answer${lines}${preset}: `;
    return ask(
      { introduction: introductionOf(prompt), hint, isHidden, takesLines, hasLines: hasLines && !isHidden },
      (line) => {
        const value = line === '' ? (initial ?? '') : line;
        const fault = prompt.validate(value);
        return fault === undefined ? { value } : { fault };
      },
      signal,
    );
  }

  return {
    isLive: false,
    say: write,
    text: (prompt, signal) => askText(prompt, false, signal),
    hidden: (prompt, signal) => askText(prompt, true, signal),
    select<Value>(prompt: SelectPrompt<Value>, signal: AbortSignal): Promise<Value | Left> {
      const introduction = introductionOf(prompt, prompt.options);
      const preset = prompt.options.findIndex(({ value }) => value === prompt.initial);
      const { isSensitive: isHidden = false } = prompt;
      const shown = isHidden ? 'Number; it is not shown' : 'Number';
      const hint = preset < 0 ? `${shown}: ` : `${shown} (empty for ${preset + 1}): `;
      return ask(
        { introduction, hint, isHidden, isNumber: true },
        (line) => {
          const option = prompt.options[line.trim() === '' ? preset : Number(line.trim()) - 1];
          return option ?? { fault: `type a number from 1 to ${prompt.options.length}` };
        },
        signal,
      );
    },
    multiSelect(prompt: MultiSelectPrompt, signal) {
      const introduction = introductionOf(prompt, prompt.options);
      const { isSensitive: isHidden = false } = prompt;
      const note = isHidden ? '; they are not shown' : '';
      const hint = `Numbers with blanks between them, empty for none${note}: `;
      return ask(
        { introduction, hint, isHidden, isNumber: true },
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

/** The lines before a hint: what is asked, and the options. */
function introductionOf(
  prompt: Parameters<typeof labelOf>[0],
  options: readonly ScreenOption<unknown>[] = [],
): readonly string[] {
  const { description } = prompt;
  return [
    labelOf(prompt),
    ...(description === undefined ? [] : [description]),
    ...options.map(({ label, note = '' }, index) => `${index + 1}. ${label}${note}`),
  ];
}

interface LineOptions {
  /** The lines to write before the hint. */
  readonly introduction: readonly string[];
  readonly hint: string;
  readonly isHidden?: boolean;
  /** Whether a pasted text keeps its lines. */
  readonly takesLines?: boolean;
  /** Whether only an empty line ends the text. */
  readonly hasLines?: boolean;
  /** Whether the input is the number of a choice. */
  readonly isNumber?: boolean;
}

/** Reads one or several lines. Hidden lines are not shown while typed, and are not kept in a history. */
function readText(
  keys: Keys,
  output: TerminalStreams['output'],
  {
    introduction,
    hint,
    isHidden = false,
    takesLines = false,
    hasLines = false,
    isNumber = false,
  }: LineOptions,
  signal: AbortSignal,
): Promise<string | Left> {
  if (signal.aborted) return Promise.resolve(LEFT);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const before: string[] = [];
  let isPasting = false;
  const close = keys.open({
    takesAnswersAhead: isNumber,
    paste(text) {
      isPasting = true;
      lines.write(inserted({ text: '', cursor: 0 }, text, takesLines).text);
      isPasting = false;
    },
  });
  const lines = createInterface({
    input: keys.stream,
    output: isHidden ? nowhere : output,
    terminal: true,
    historySize: 0,
  });
  // readline draws its prompt again with the line, so the hint must be that prompt.
  lines.setPrompt(isHidden ? '' : hint);
  // The texts are written only now, when the terminal no longer echoes keys: they may say that what is typed is not shown.
  output.write([...introduction, hint].join('\n'));
  return new Promise((resolve) => {
    const end = (result: string | Left) => {
      signal.removeEventListener('abort', leave);
      lines.off('line', take);
      lines.off('close', leave);
      lines.close();
      close();
      if (isHidden || result === LEFT) output.write('\n');
      resolve(result);
    };
    const take = (line: string) => {
      if (isPasting || (hasLines && line !== '')) {
        before.push(line);
        lines.setPrompt('');
      } else end(withoutLastBreak([...before, line].join('\n')));
    };
    const leave = () => end(LEFT);
    signal.addEventListener('abort', leave, { once: true });
    lines.on('line', take);
    lines.once('SIGINT', leave);
    lines.on('SIGTSTP', () => keys.suspend(() => (isHidden ? output.write(hint) : lines.prompt(true))));
    lines.once('close', leave);
  });
}
