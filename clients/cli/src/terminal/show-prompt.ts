import type { Key } from 'node:readline';
import { ANSWER_TEXT_MAX } from '@parley/core/domain/forms/value';
import type { PromptState } from './frame.ts';
import type { Keys } from './keys.ts';
import type { Surface } from './look.ts';
import { editOutside } from './outside-editor.ts';
import { LEFT, type Left, type OpenPrompt, type TerminalStreams } from './screen.ts';

/** Where prompts are shown. */
export interface Stage {
  readonly keys: Keys;
  readonly output: TerminalStreams['output'];
  surface(): Surface;
  /** What was said above the prompt, as it is drawn. */
  said(): string;
  /** The program in which the person edits texts. */
  readonly editor: string | undefined;
}

const CLEAR_ALL = '\u001b[2J\u001b[H';
const CLEAR_BELOW = '\r\u001b[J';
/** What is drawn again at each key, in UTF-16 units. An answer is far shorter. */
const TEXT_MAX = 10 * ANSWER_TEXT_MAX;
const TOO_LONG = 'This is too long for an answer.';
/** Of an editor that fails, or that the person ended without saving. */
const UNSAVED = 'The editor saved nothing: this is the text as it was.';

/** Shows a prompt until the person enters or leaves it, or the signal is aborted. */
export function showPrompt<Value>(stage: Stage, prompt: OpenPrompt<Value>, signal: AbortSignal) {
  const painter = createPainter(stage.output);
  let state: PromptState = { status: 'open' };
  /** Ends the reading of keys; nothing while another program has the terminal. */
  let close: (() => void) | undefined;
  const stop = () => {
    close?.();
    close = undefined;
  };
  let settle: (result: Value | Left) => void;
  const ended = new Promise<Value | Left>((resolve) => {
    settle = resolve;
  });
  const redraw = () => {
    if (close !== undefined) painter.draw(prompt.frame(state, stage.surface()));
  };
  /** Where rows of another size have gone is known to nobody but the terminal. */
  const drawAnew = () => {
    painter.clear(stage.said());
    redraw();
  };
  const stay = (fault?: string) => {
    state = { status: 'open', fault };
    redraw();
  };

  function press(typed: string | undefined, key: Key): void {
    if (isLeaving(key)) end('left', LEFT);
    else if (key.ctrl === true && key.name === 'z') stage.keys.suspend(drawAnew);
    else if (prompt.edit !== undefined && key.ctrl === true && key.name === 'g') void edit(prompt.edit);
    else if (prompt.isEntered(key)) enter();
    // Keys have handed a paste to the prompt.
    else if (key.name !== 'paste-start' && key.name !== 'escape') {
      prompt.press(typed, key);
      stay();
    }
  }

  function enter(): void {
    const fault = prompt.fault();
    if (fault === undefined) end('done', prompt.value());
    else stay(fault);
  }

  async function edit({ read, write }: NonNullable<OpenPrompt<Value>['edit']>): Promise<void> {
    stop();
    // The terminal is given back with the next turn of the event loop.
    await new Promise(setImmediate);
    const saved = await editOutside(stage.editor ?? '', read(), signal);
    if (signal.aborted) {
      painter.clear(stage.said());
      return end('left', LEFT);
    }
    state = { status: 'open', fault: faultOfTaking(saved, write) };
    close = listen(stage, prompt, reader);
    drawAnew();
  }

  function end(status: 'done' | 'left', result: Value | Left): void {
    state = { status };
    signal.removeEventListener('abort', abort);
    painter.draw(prompt.frame(state, stage.surface()));
    stage.output.write('\n');
    stop();
    settle(result);
  }

  // An editor ends first: it would read what is typed into the next prompt.
  const abort = () => void (close !== undefined && end('left', LEFT));
  signal.addEventListener('abort', abort, { once: true });
  const reader: Reader = { press, pasted: stay, resized: drawAnew };
  close = listen(stage, prompt, reader);
  redraw();
  return {
    ended,
    redraw,
  };
}

/** Hands a text from elsewhere to a prompt. Returns what is wrong with it; nothing when the prompt has it. */
function faultOfTaking(text: string | undefined, write?: (text: string) => void): string | undefined {
  if (text === undefined) return UNSAVED;
  if (text.length > TEXT_MAX) return TOO_LONG;
  write?.(text);
  return undefined;
}

interface Reader {
  press(typed: string | undefined, key: Key): void;
  /** Called after a paste, with what is wrong with it. */
  pasted(fault: string | undefined): void;
  resized(): void;
}

/** Begins to read keys and sizes, until the returned function is called. */
function listen(
  { keys, output }: Stage,
  { paste, takesLines }: Pick<OpenPrompt<unknown>, 'paste' | 'takesLines'>,
  { press, pasted, resized }: Reader,
): () => void {
  const takePaste = (text: string) => pasted(faultOfTaking(text, paste));
  const stop = keys.open({ paste: paste && takePaste, takesLines, hidesCursor: true });
  keys.stream.on('keypress', press);
  output.on('resize', resized);
  return () => {
    keys.stream.off('keypress', press);
    output.off('resize', resized);
    stop();
  };
}

/** Draws rows over those that it has drawn before. */
function createPainter(output: TerminalStreams['output']) {
  let drawn: readonly string[] = [];
  return {
    draw(rows: readonly string[]): void {
      if (rows.join('\n') === drawn.join('\n')) return;
      const up = drawn.length > 1 ? `\u001b[${drawn.length - 1}A` : '';
      // One write, so that no half of it is ever seen.
      output.write(`${up}${CLEAR_BELOW}${rows.join('\n')}`);
      drawn = rows;
    },
    /** Clears the screen; the next rows stand below `above`. */
    clear(above: string): void {
      output.write(`${CLEAR_ALL}${above}`);
      drawn = [];
    },
  };
}

/** The keys that end a question: Ctrl+C and Ctrl+D. Escape is not among them, because it is pressed too easily. */
export function isLeaving({ name, ctrl }: Key): boolean {
  return ctrl === true && (name === 'c' || name === 'd');
}
