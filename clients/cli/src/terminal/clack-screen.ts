import { isCancel, log, multiselect, password, select, text } from '@clack/prompts';
import {
  LEFT,
  type Left,
  type MultiSelectPrompt,
  type Screen,
  type SelectPrompt,
  type TerminalStreams,
} from './screen.ts';

/** Prompts with arrow keys and colours. */
export function createClackScreen({ input, output }: TerminalStreams): Screen {
  const streams = { input, output };

  /** Options whose message is read again at every drawing. */
  function withMessage<Options extends object>(
    prompt: { readonly label: string; readonly description?: string | undefined },
    options: Options,
  ): Options & { readonly message: string } {
    return Object.defineProperty(options, 'message', {
      enumerable: true,
      // One line: the guide of clack stands beside the first line of a message only.
      get: () => [prompt.label, prompt.description?.replaceAll('\n', ' ')].filter(Boolean).join('  '),
    }) as Options & { readonly message: string };
  }

  return {
    say: (lines) => log.message(lines, { output }),
    text: async (prompt, outer) =>
      orLeft(
        await whileOpen(outer, (signal) =>
          text(
            withMessage(prompt, {
              ...streams,
              signal,
              ...(prompt.initial !== undefined && { initialValue: prompt.initial }),
              validate: (value: string | undefined) => prompt.validate(value ?? ''),
            }),
          ),
        ),
      ),
    hidden: async (prompt, outer) =>
      orLeft(
        await whileOpen(outer, (signal) =>
          password(
            withMessage(prompt, {
              ...streams,
              signal,
              // A mask would show the length.
              mask: '',
              validate: (value: string | undefined) => prompt.validate(value ?? ''),
            }),
          ),
        ),
      ),
    async select<Value>(prompt: SelectPrompt<Value>, outer: AbortSignal): Promise<Value | Left> {
      // Indexes, because the values of clack's options are compared by identity.
      const initial = prompt.options.findIndex(({ value }) => value === prompt.initial);
      const shown = prompt.options.map((option, index) => ({
        value: index,
        // It may count down.
        get label() {
          return option.label;
        },
      }));
      const { options, end } =
        prompt.isSensitive === true ? concealed(streams, outer, shown) : visible(shown);
      const chosen = await whileOpen(outer, (signal) =>
        select(
          withMessage(prompt, {
            ...streams,
            signal,
            options,
            ...(initial >= 0 && { initialValue: initial }),
          }),
        ),
      ).finally(end);
      const option = isCancel(chosen) ? undefined : prompt.options[chosen];
      return option === undefined ? LEFT : option.value;
    },
    async multiSelect(prompt: MultiSelectPrompt, outer: AbortSignal) {
      let initial = prompt.initial;
      for (;;) {
        const shown = prompt.options.map(({ value, label }) => ({ value, label }));
        const { options, end } =
          prompt.isSensitive === true ? concealed(streams, outer, shown) : visible(shown);
        const chosen = await whileOpen(outer, (signal) =>
          multiselect(
            withMessage(prompt, { ...streams, signal, options, initialValues: initial, required: false }),
          ),
        ).finally(end);
        if (isCancel(chosen)) return LEFT;
        const fault = prompt.validate(chosen);
        if (fault === undefined) return chosen;
        log.error(fault, { output });
        initial = chosen;
      }
    },
    redraw: () => redraw(output),
  };
}

/**
 * Opens a prompt with a signal that follows `outer` until the prompt has ended. Clack never stops listening to the signal of a
 * prompt: an abort after the end would close the prompt a second time, which ends the raw mode of the terminal, and the
 * prompt that is open by then would receive no key.
 */
async function whileOpen<Result>(
  outer: AbortSignal,
  open: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const abort = () => own.abort();
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  try {
    return await open(own.signal);
  } finally {
    outer.removeEventListener('abort', abort);
  }
}

/** A prompt draws itself again when the size of its output changes. */
function redraw(output: TerminalStreams['output']): void {
  output.emit('resize');
}

interface Labelled<Value> {
  readonly value: Value;
  readonly label: string;
}

interface DrawnOptions<Value> {
  readonly options: Labelled<Value>[];
  /** Ends what the options need while the prompt is open. */
  readonly end: () => void;
}

function visible<Value>(options: Labelled<Value>[]): DrawnOptions<Value> {
  return { options, end: () => undefined };
}

/** Keys that end a prompt of choices. */
const ENDING_KEYS: ReadonlySet<string | undefined> = new Set(['return', 'escape', '\u0003']);

/**
 * Options whose labels are shown while the person picks. With the key that ends the prompt they become one word, before clack
 * draws its last line from them: this listener is registered first. A signal ends a prompt without a last line, so the prompt
 * is drawn once more before.
 */
function concealed<Value>(
  { input, output }: TerminalStreams,
  signal: AbortSignal,
  options: readonly Labelled<Value>[],
): DrawnOptions<Value> {
  let isEnded = false;
  const listen = (_text: string | undefined, key: { readonly name?: string; readonly sequence?: string }) => {
    isEnded = signal.aborted || ENDING_KEYS.has(key.name) || ENDING_KEYS.has(key.sequence);
  };
  const abort = () => {
    isEnded = true;
    redraw(output);
  };
  input.on('keypress', listen);
  signal.addEventListener('abort', abort, { once: true });
  return {
    options: options.map((option) => ({
      value: option.value,
      get label() {
        return isEnded ? CONCEALED : option.label;
      },
    })),
    end() {
      input.off('keypress', listen);
      signal.removeEventListener('abort', abort);
    },
  };
}

const CONCEALED = 'not shown';

function orLeft(value: string | symbol): string | Left {
  return typeof value === 'string' ? value : LEFT;
}
