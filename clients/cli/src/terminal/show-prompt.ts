/**
 * Runs one prompt on a terminal that can be redrawn: keys in, frames out, until it is entered or left. What the prompt contains
 * is in `choice.ts` and `entry.ts`.
 */

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
  /** The lines printed above the prompt, as drawn. */
  said(): string;
  /** The command that starts the person's text editor. */
  readonly editor: string | undefined;
}

const CLEAR_ALL = '\u001b[2J\u001b[H';
const CLEAR_BELOW = '\r\u001b[J';
/** The maximum length of text that is redrawn at each key, in UTF-16 units. An answer is far shorter. */
const TEXT_MAX = 10 * ANSWER_TEXT_MAX;
const TOO_LONG = 'This is too long for an answer.';
/** The message after the editor failed or was closed without saving. */
const UNSAVED = 'The editor saved nothing: this is the text as it was.';

/** Shows a prompt until the person enters or leaves it, or the signal is aborted. */
export function showPrompt<Value>(stage: Stage, prompt: OpenPrompt<Value>, signal: AbortSignal) {
  const painter = createPainter(stage.output);
  let state: PromptState = { status: 'open' };
  /** Stops reading keys; undefined while another program has the terminal. */
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
  /** Clears the screen and draws again. After a resize, only the terminal knows where the old rows are. */
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
    // A paste has already been passed to the prompt, so its key does nothing.
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
    // The terminal is released in the next turn of the event loop.
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

  // While an editor runs, it must end first: otherwise it would read what is typed into the next prompt.
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

/** Passes a text from outside to a prompt. Returns what is wrong with the text; undefined if the prompt took it. */
function faultOfTaking(text: string | undefined, write?: (text: string) => void): string | undefined {
  if (text === undefined) return UNSAVED;
  if (text.length > TEXT_MAX) return TOO_LONG;
  write?.(text);
  return undefined;
}

interface Reader {
  press(typed: string | undefined, key: Key): void;
  /** Called after a paste, with what was wrong with it. */
  pasted(fault: string | undefined): void;
  resized(): void;
}

/** Reads keys and size changes until the returned function is called. */
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

/** Draws rows over those that it drew before. */
function createPainter(output: TerminalStreams['output']) {
  let drawn: readonly string[] = [];
  return {
    draw(rows: readonly string[]): void {
      if (rows.join('\n') === drawn.join('\n')) return;
      const up = drawn.length > 1 ? `\u001b[${drawn.length - 1}A` : '';
      // A single write, so that half a frame is never visible.
      output.write(`${up}${CLEAR_BELOW}${rows.join('\n')}`);
      drawn = rows;
    },
    /** Clears the screen; the next rows are drawn below `above`. */
    clear(above: string): void {
      output.write(`${CLEAR_ALL}${above}`);
      drawn = [];
    },
  };
}

/**
 * The keys that leave a question: Ctrl+C and Ctrl+D. Escape is not one of them, because it is pressed by accident too easily.
 */
export function isLeaving({ name, ctrl }: Key): boolean {
  return ctrl === true && (name === 'c' || name === 'd');
}
