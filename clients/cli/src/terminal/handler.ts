import type { Ask, ElicitationHandler } from '@parley/sdk/elicit';
import { type CliEnv, readCliEnv } from '../env.ts';
import { createCountdown } from './countdown.ts';
import { createDrawnScreen } from './drawn-screen.ts';
import type { TerminalContent } from './fields.ts';
import { openPage } from './open-page.ts';
import { createPlainScreen } from './plain-screen.ts';
import { showQuestion } from './question.ts';
import type { Screen, TerminalStreams } from './screen.ts';

export interface TerminalHandlerOptions {
  /** @default standard input and standard output */
  readonly streams?: TerminalStreams;
  /** Lines instead of a screen that is drawn over: for screen readers. */
  readonly plain?: boolean;
  readonly priority?: number;
}

/** Asks in the terminal of this process, secrets included. Without a terminal it cannot ask, and another handler does. */
export function createTerminalHandler(options: TerminalHandlerOptions = {}): ElicitationHandler {
  const { streams = { input: process.stdin, output: process.stdout }, priority = 10 } = options;
  const screen = createScreen(streams, options.plain === true, readCliEnv());
  // What was entered on a page that is asked again. Kept no longer than the ask.
  const entered = new WeakMap<Ask, Map<number, TerminalContent>>();
  // An ask that is taken away ends before its editor does, which has the terminal until then.
  let latest: Promise<unknown> = Promise.resolve();
  return {
    name: 'terminal',
    priority,
    oneAtATime: true,
    canHandle: () => isTerminal(streams),
    async handle(prompt, { signal, remainingMs }) {
      const { ask, page, faults } = prompt;
      const countdown = createCountdown(remainingMs);
      await latest;
      if (signal.aborted) return { action: 'cancel' };
      const showing = showQuestion(
        screen,
        {
          ...prompt,
          form: prompt.mode === 'form' ? prompt.schema : undefined,
          url: prompt.mode === 'url' ? prompt.url : undefined,
          isSecret: prompt.mode === 'secret',
          earlier: faults.length > 0 ? entered.get(ask)?.get(page) : undefined,
        },
        { signal, countdown, offersDecline: false, open: openPage },
      );
      latest = showing.catch(() => undefined);
      const answer = await showing;
      // "Later" is not offered here, because the asker waits in this process.
      if (answer.action === 'later') return { action: 'cancel' };
      if (answer.action !== 'accept') return answer;
      if (answer.content !== undefined) {
        const pages = entered.get(ask) ?? new Map<number, TerminalContent>();
        entered.set(ask, pages.set(page, answer.content));
      }
      return { action: 'accept', content: answer.secret ?? answer.content };
    },
  };
}

/** True when a person can be asked here. */
export function isTerminal({ input, output }: TerminalStreams): boolean {
  return input.isTTY === true && output.isTTY === true;
}

type ScreenEnv = Pick<CliEnv, 'refusesColour' | 'canDraw' | 'hasSymbols' | 'editor'>;

/** Prompts that are drawn over; plain lines where the person or the terminal wants these. */
export function createScreen(
  streams: TerminalStreams,
  isPlain: boolean,
  { refusesColour, canDraw, hasSymbols, editor }: ScreenEnv,
): Screen {
  return isPlain || !canDraw
    ? createPlainScreen(streams)
    : createDrawnScreen(streams, { hasColour: !refusesColour, hasSymbols, editor });
}
