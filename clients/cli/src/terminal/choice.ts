/**
 * The prompts in which a person picks one or several options. Reading keys and drawing the frame are in `keys.ts` and
 * `frame.ts`.
 */

import type { Key } from 'node:readline';
import { frameOf, type PromptState } from './frame.ts';
import { columnsOf, cut, painted, type Surface, symbol, windowed, wrapped } from './look.ts';
import {
  labelOf,
  type MultiSelectPrompt,
  type OpenPrompt,
  type ScreenOption,
  type SelectPrompt,
} from './screen.ts';

/** Replaces a sensitive choice after it was made. */
const CONCEALED = 'not shown';

const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  left: -1,
  k: -1,
  h: -1,
  down: 1,
  right: 1,
  j: 1,
  l: 1,
};

/** A prompt for one option. The options may change while it is open; the focus stays on the same option. */
export function createChoice<Value>(prompt: SelectPrompt<Value>): OpenPrompt<Value> {
  const focus = createFocus(() => prompt.options, prompt.initial);
  return {
    value: () => (focus.option() as ScreenOption<Value>).value,
    fault: () => (focus.option() === undefined ? 'There is nothing to choose.' : undefined),
    isEntered: isReturn,
    press: (_typed, key) => focus.press(key),
    frame: (state, surface) =>
      frameOf(surface, state, {
        label: labelOf(prompt),
        description: prompt.description,
        hints: ['↑/↓: navigate', 'Enter: confirm'],
        body: (width, room) => {
          if (state.status !== 'open')
            return ended(surface, state, prompt.isSensitive === true ? CONCEALED : focus.option()?.label, {
              width,
              room,
            });
          const mark = (_option: unknown, isFocused: boolean) =>
            symbol(surface, isFocused ? 'picked' : 'unpicked');
          return optionRows(surface, prompt.options, { focus: focus.at(), mark, width, room });
        },
      }),
  };
}

/** A prompt for several options. */
export function createMultiChoice(prompt: MultiSelectPrompt): OpenPrompt<readonly string[]> {
  const focus = createFocus(() => prompt.options, undefined);
  const picked = new Set(prompt.initial);
  const flip = (value: string) => {
    if (!picked.delete(value)) picked.add(value);
  };
  const chosen = () => prompt.options.filter(({ value }) => picked.has(value));
  return {
    value: () => chosen().map(({ value }) => value),
    fault: () => prompt.validate(chosen().map(({ value }) => value)),
    isEntered: isReturn,
    press(_typed, key) {
      const option = focus.option();
      if (key.ctrl === true || key.meta === true) return;
      if (key.name === 'space' && option !== undefined) flip(option.value);
      else if (key.name === 'a') {
        const isFull = chosen().length === prompt.options.length;
        for (const { value } of prompt.options) isFull ? picked.delete(value) : picked.add(value);
      } else focus.press(key);
    },
    frame: (state, surface) =>
      frameOf(surface, state, {
        label: labelOf(prompt),
        description: prompt.description,
        hints: ['↑/↓: navigate', 'Space: select', 'Enter: confirm'],
        body: (width, room) => {
          const labels = chosen()
            .map(({ label }) => label)
            .join(', ');
          if (state.status !== 'open')
            return ended(surface, state, prompt.isSensitive === true ? CONCEALED : labels || 'none', {
              width,
              room,
            });
          const mark = ({ value }: ScreenOption<string>, isFocused: boolean) =>
            `${isFocused ? symbol(surface, 'pointer') : ' '} ${symbol(surface, picked.has(value) ? 'checked' : 'unchecked')}`;
          return optionRows(surface, prompt.options, { focus: focus.at(), mark, width, room });
        },
      }),
  };
}

function isReturn({ name }: Key): boolean {
  return name === 'return';
}

/** Tracks which option has the focus, by its value, because options may appear and disappear. */
function createFocus<Value>(options: () => readonly ScreenOption<Value>[], initial: Value | undefined) {
  let index = Math.max(
    options().findIndex(({ value }) => value === initial),
    0,
  );
  let focused = options()[index];
  const at = () => {
    const list = options();
    const found = list.findIndex(({ value }) => value === focused?.value);
    index = found >= 0 ? found : Math.min(index, Math.max(list.length - 1, 0));
    focused = list[index];
    return index;
  };
  return {
    at,
    option() {
      return options()[at()];
    },
    press({ name = '', ctrl, meta }: Key) {
      if (ctrl === true || meta === true) return;
      const list = options();
      const last = list.length - 1;
      const step = STEPS[name] ?? 0;
      const next = name === 'home' ? 0 : name === 'end' ? last : at() + step;
      focused = list[next < 0 ? last : next > last ? 0 : next];
    },
  };
}

/** The space for an answer on the screen, in columns and rows. */
interface Space {
  readonly width: number;
  readonly room: number;
}

type Mark<Value> = (option: ScreenOption<Value>, isFocused: boolean) => string;

function optionRows<Value>(
  surface: Surface,
  options: readonly ScreenOption<Value>[],
  { focus, mark, width, room }: Space & { readonly focus: number; readonly mark: Mark<Value> },
): readonly string[] {
  const parts = options.map((option, index) => {
    const sign = mark(option, index === focus);
    const indent = ' '.repeat(columnsOf(sign) + 1);
    const [first = '', ...more] = rowsOfOption(option, Math.max(width - indent.length, 2));
    const style = (row: string) => (index === focus ? row : painted(surface, 'dim', row));
    const colour = index === focus ? 'cyan' : 'dim';
    return [
      `${painted(surface, colour, sign)} ${style(first)}`,
      ...more.map((row) => `${indent}${style(row)}`),
    ];
  });
  return windowed(parts, focus, room, painted(surface, 'dim', '…'));
}

/** At least this many columns of a label are shown beside its note. */
const LABEL_MIN = 3;

/** The rows of an option. One with a note takes a single row that ends with the note. */
function rowsOfOption({ label, note }: ScreenOption<unknown>, width: number): readonly string[] {
  if (note === undefined) return wrapped(label, width);
  const room = width - columnsOf(note);
  return [room < LABEL_MIN ? cut(label, width) : `${cut(label, room)}${note}`];
}

function ended(
  surface: Surface,
  { status }: PromptState,
  label = '',
  { width, room }: Space,
): readonly string[] {
  if (status === 'left') return [];
  const shown = wrapped(label, width).slice(0, room);
  return shown.map((row) => painted(surface, 'dim', row));
}
