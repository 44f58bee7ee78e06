import { createChoice, createMultiChoice } from './choice.ts';
import { createEntry } from './entry.ts';
import { widthInside } from './frame.ts';
import { createKeys } from './keys.ts';
import { painted, type Surface, symbol, wrapped } from './look.ts';
import { LEFT, type Left, type OpenPrompt, type Screen, type TerminalStreams } from './screen.ts';
import { type Stage, showPrompt } from './show-prompt.ts';

interface ScreenSettings {
  readonly hasColour: boolean;
  readonly hasSymbols: boolean;
  /** The command that starts the person's text editor. */
  readonly editor: string | undefined;
}

/** The size that is assumed if the terminal does not report one. */
const USUAL = { columns: 80, rows: 24 } as const;

/** A screen whose prompts have arrow keys and colours, and are redrawn when they change. */
export function createDrawnScreen(streams: TerminalStreams, settings: ScreenSettings): Screen {
  const { output } = streams;
  const { editor } = settings;
  let said: string | undefined;
  let redraw: (() => void) | undefined;
  const surface = (): Surface => ({
    ...settings,
    columns: output.columns || USUAL.columns,
    rows: output.rows || USUAL.rows,
  });
  const stage: Stage = { keys: createKeys(streams), output, surface, said: drawnSaid, editor };

  function drawnSaid(): string {
    if (said === undefined) return '';
    const place = surface();
    const bar = painted(place, 'gray', symbol(place, 'bar'));
    const rows = wrapped(said, widthInside(place)).map((row) => `${bar}  ${row}`.trimEnd());
    return `${[bar, ...rows].join('\n')}\n`;
  }

  async function show<Value>(prompt: OpenPrompt<Value>, signal: AbortSignal): Promise<Value | Left> {
    if (signal.aborted) return LEFT;
    const shown = showPrompt(stage, prompt, signal);
    redraw = shown.redraw;
    return shown.ended.finally(() => {
      redraw = undefined;
    });
  }

  return {
    isLive: true,
    say(text) {
      said = text;
      output.write(drawnSaid());
    },
    text: (prompt, signal) =>
      show(createEntry(prompt, { isHidden: false, hasEditor: editor !== undefined }), signal),
    hidden: (prompt, signal) => show(createEntry(prompt, { isHidden: true, hasEditor: false }), signal),
    select: (prompt, signal) => show(createChoice(prompt), signal),
    multiSelect: (prompt, signal) => show(createMultiChoice(prompt), signal),
    redraw: () => redraw?.(),
  };
}
