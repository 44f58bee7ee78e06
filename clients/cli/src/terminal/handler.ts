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
  /** Plain lines for screen readers, instead of a screen that is redrawn. */
  readonly plain?: boolean;
  readonly priority?: number;
}

/**
 * Asks in the terminal of this process, secrets included. Without a terminal it cannot ask, and the next handler does.
 *
 * @example
 * const elicitor = createElicitor({ handlers: [createTerminalHandler()] });
 * const outcome = await elicitor.ask({ kind: 'secret', message: 'The token of the deployment?' });
 */
export function createTerminalHandler(options: TerminalHandlerOptions = {}): ElicitationHandler {
  const { streams = { input: process.stdin, output: process.stdout }, priority = 10 } = options;
  const screen = createScreen(streams, options.plain === true, readCliEnv());
  // The input of pages that are asked again. It is kept only as long as the ask.
  const entered = new WeakMap<Ask, Map<number, TerminalContent>>();
  // When an ask is withdrawn, its editor may still be ending and has the terminal until then; the next ask waits for that.
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
      // "Later" is not offered here, because the asker is waiting in this process.
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

/** True when a person can be asked in this terminal. */
export function isTerminal({ input, output }: TerminalStreams): boolean {
  return input.isTTY === true && output.isTTY === true;
}

type ScreenEnv = Pick<CliEnv, 'refusesColour' | 'canDraw' | 'hasSymbols' | 'editor'>;

/** A screen that is redrawn, or plain lines if the person or the terminal requires them. */
export function createScreen(
  streams: TerminalStreams,
  isPlain: boolean,
  { refusesColour, canDraw, hasSymbols, editor }: ScreenEnv,
): Screen {
  return isPlain || !canDraw
    ? createPlainScreen(streams)
    : createDrawnScreen(streams, { hasColour: !refusesColour, hasSymbols, editor });
}
