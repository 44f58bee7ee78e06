import type { Key } from 'node:readline';
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
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

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
    if (close !== undefined || state.status !== 'open') painter.draw(prompt.frame(state, stage.surface()));
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
    else if (key.ctrl === true && key.name === 'z') stage.keys.suspend();
    else if (prompt.edit !== undefined && key.ctrl === true && key.name === 'g') void edit(prompt.edit);
    else if (prompt.isEntered(key)) enter();
    else {
      // Keys have handed a paste to the prompt.
      if (key.name !== 'paste-start') prompt.press(typed, key);
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
    stage.output.write(SHOW_CURSOR);
    // The terminal is given back with the next turn of the event loop.
    await new Promise(setImmediate);
    write(await editOutside(stage.editor ?? '', read(), signal));
    if (state.status !== 'open') return;
    close = listen(stage, prompt, press, drawAnew);
    drawAnew();
  }

  function end(status: 'done' | 'left', result: Value | Left): void {
    state = { status };
    signal.removeEventListener('abort', abort);
    redraw();
    stage.output.write(`\n${SHOW_CURSOR}`);
    stop();
    settle(result);
  }

  const abort = () => end('left', LEFT);
  signal.addEventListener('abort', abort, { once: true });
  close = listen(stage, prompt, press, drawAnew);
  redraw();
  return { ended, redraw };
}

type Press = (typed: string | undefined, key: Key) => void;

/** Begins to read keys and sizes, until the returned function is called. */
function listen(
  { keys, output }: Stage,
  { paste, takesLines }: Pick<OpenPrompt<unknown>, 'paste' | 'takesLines'>,
  press: Press,
  onResize: () => void,
): () => void {
  const stop = keys.open({ paste, takesLines });
  keys.stream.on('keypress', press);
  output.on('resize', onResize).write(HIDE_CURSOR);
  return () => {
    keys.stream.off('keypress', press);
    output.off('resize', onResize);
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

/** Escape, Ctrl+C and Ctrl+D. */
function isLeaving({ name, ctrl }: Key): boolean {
  return name === 'escape' || (ctrl === true && (name === 'c' || name === 'd'));
}
