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
    text: async (prompt, signal) =>
      orLeft(
        await text(
          withMessage(prompt, {
            ...streams,
            signal,
            ...(prompt.initial !== undefined && { initialValue: prompt.initial }),
            validate: (value: string | undefined) => prompt.validate(value ?? ''),
          }),
        ),
      ),
    hidden: async (prompt, signal) =>
      orLeft(
        await password(
          withMessage(prompt, {
            ...streams,
            signal,
            // A mask would show the length.
            mask: '',
            validate: (value: string | undefined) => prompt.validate(value ?? ''),
          }),
        ),
      ),
    async select<Value>(prompt: SelectPrompt<Value>, signal: AbortSignal): Promise<Value | Left> {
      // Indexes, because the values of clack's options are compared by identity.
      const initial = prompt.options.findIndex(({ value }) => value === prompt.initial);
      const options = prompt.options.map((option, index) => ({
        value: index,
        get label() {
          return option.label;
        },
      }));
      const chosen = await select(
        withMessage(prompt, { ...streams, signal, options, ...(initial >= 0 && { initialValue: initial }) }),
      );
      const option = isCancel(chosen) ? undefined : prompt.options[chosen];
      return option === undefined ? LEFT : option.value;
    },
    async multiSelect(prompt: MultiSelectPrompt, signal: AbortSignal) {
      let initial = prompt.initial;
      for (;;) {
        const options = prompt.options.map(({ value, label }) => ({ value, label }));
        const chosen = await multiselect(
          withMessage(prompt, { ...streams, signal, options, initialValues: initial, required: false }),
        );
        if (isCancel(chosen)) return LEFT;
        const fault = prompt.validate(chosen);
        if (fault === undefined) return chosen;
        log.error(fault, { output });
        initial = chosen;
      }
    },
    // A prompt draws itself again when the size of its output changes.
    redraw: () => void output.emit('resize'),
  };
}

function orLeft(value: string | symbol): string | Left {
  return typeof value === 'string' ? value : LEFT;
}
