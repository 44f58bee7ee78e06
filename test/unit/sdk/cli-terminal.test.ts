import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import widthOf from 'fast-string-width';
import { expect, it } from 'vitest';
import { createChoice, createMultiChoice } from '../../../clients/cli/src/terminal/choice.ts';
import { edited, inserted, type TypedText } from '../../../clients/cli/src/terminal/editor.ts';
import { createEntry } from '../../../clients/cli/src/terminal/entry.ts';
import type { PromptState } from '../../../clients/cli/src/terminal/frame.ts';
import { cut, rowsOf, type Surface, wrapped } from '../../../clients/cli/src/terminal/look.ts';
import { createPlainScreen } from '../../../clients/cli/src/terminal/plain-screen.ts';
import { LEFT, type OpenPrompt, type TerminalStreams } from '../../../clients/cli/src/terminal/screen.ts';

/** A draft, written with the cursor as a bar. */
function draftOf(text: string): TypedText {
  return { text: text.replace('|', ''), cursor: text.indexOf('|') };
}

function written({ text, cursor }: TypedText): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

it.each([
  ['a|b', { name: 'x' }, 'x', 'ax|b'],
  ['会議|', { name: 'backspace' }, '\b', '会|'],
  ['a👩‍👩‍👧|', { name: 'backspace' }, '\b', 'a|'],
  ['a👩‍👩‍👧|b', { name: 'left' }, undefined, 'a|👩‍👩‍👧b'],
  ['|e\u0301b', { name: 'right' }, undefined, 'e\u0301|b'],
  ['|e\u0301b', { name: 'delete' }, undefined, '|b'],
  ['a|b', { name: 'enter', sequence: '\n' }, '\n', 'a\n|b'],
  ['a|b', { name: 'return', meta: true }, undefined, 'a\n|b'],
  ['one\ntwo|', { name: 'up' }, undefined, 'one|\ntwo'],
  ['one\nsecond|\nx', { name: 'down' }, undefined, 'one\nsecond\nx|'],
  ['|one', { name: 'up' }, undefined, '|one'],
  ['one\ntwo thr|ee', { name: 'a', ctrl: true }, '\u0001', 'one\n|two three'],
  ['one\ntw|o\nthree', { name: 'end' }, undefined, 'one\ntwo|\nthree'],
  ['one two | three', { name: 'w', ctrl: true }, '\u0017', 'one | three'],
  ['one\ntwo|\nthree', { name: 'u', ctrl: true }, '\u0015', 'one\n|\nthree'],
  ['o|ne\ntwo', { name: 'k', ctrl: true }, '\u000b', 'o|\ntwo'],
  ['one |two', { name: 'b', meta: true }, undefined, '|one two'],
  ['a|b', { name: 'x', meta: true }, undefined, 'a|b'],
  ['a|b', { name: 'q', ctrl: true }, '\u0011', 'a|b'],
  ['|\nb', { name: 'home' }, undefined, '|\nb'],
])('%j after the key %j', (before, key, typed, after) => {
  expect(written(edited(draftOf(before), typed, key, true))).toBe(after);
});

it('a paste keeps its lines where the field takes them, and else becomes one line', () => {
  const pasted = 'one\n\n  two\u001b[2J\tthree\n';
  expect(written(inserted(draftOf('a|b'), pasted, true))).toBe('aone\n\n  two[2J\tthree\n|b');
  expect(written(inserted(draftOf('a|b'), pasted, false))).toBe('aone two[2J\tthree|b');
});

it.each([
  [cut, '会議の時間', 5, '会議…'],
  [cut, 'short', 5, 'short'],
  [
    (text: string, width: number) => wrapped(text, width).join('/'),
    'to be or not 会議の時間',
    6,
    'to be/or not/会議の/時間',
  ],
])('a text is broken by the columns that it takes', (break_, text, width, expected) => {
  expect(break_(text, width)).toBe(expected);
});

const characters = ['a', 'B', ' ', '会', 'ｱ', '👩‍👩‍👧', 'e\u0301', '🇩🇪'];
const words = fc.string({ unit: fc.constantFrom(...characters), maxLength: 90 });
/** What somebody pastes. */
const lines = fc.string({
  unit: fc.constantFrom(...characters, '\n', '\t', '\u202e', '\ud800'),
  maxLength: 900,
});
const surface = fc.record({
  columns: fc.integer({ min: 16, max: 90 }),
  rows: fc.integer({ min: 6, max: 40 }),
  hasColour: fc.boolean(),
  hasSymbols: fc.boolean(),
});

function fitting(prompt: Pick<OpenPrompt<unknown>, 'frame'>, state: PromptState, place: Surface): string {
  const rows = prompt.frame(state, place);
  expect(rows.length).toBeLessThan(place.rows);
  for (const row of rows) expect(widthOf(stripVTControlCharacters(row))).toBeLessThan(place.columns);
  return rows.join('\n');
}

it('whatever is asked on whatever terminal, what is drawn fits on it and shows where the person is', () => {
  fc.assert(
    fc.property(
      surface,
      fc.record({ label: words, description: words, fault: fc.option(words, { nil: undefined }) }),
      fc.array(
        fc.record({ label: words, note: fc.option(fc.constant(' (9:41 left)'), { nil: undefined }) }),
        {
          minLength: 1,
          maxLength: 40,
        },
      ),
      lines,
      fc.nat(50),
      (place, { fault, ...texts }, labels, text, steps) => {
        const options = labels.map((option, at) => ({ ...option, value: `${at}` }));
        const validate = () => undefined;
        const prompts = [
          createChoice({ ...texts, options }),
          createMultiChoice({ ...texts, options, initial: ['0'], validate }),
          createEntry(
            { ...texts, initial: text, validate, takesLines: true, hasLines: true },
            { isHidden: false, hasEditor: true },
          ),
        ];
        const marks = place.hasSymbols ? ['●', '◼', '█'] : ['>', '[', '_'];
        for (const [kind, prompt] of prompts.entries()) {
          for (let step = 0; step < steps; step += 1)
            prompt.press(undefined, { name: kind === 2 ? 'up' : 'down' });
          const shown = fitting(prompt, { status: 'open', fault }, place);
          expect([marks[kind] ?? '', '◻', '\u001b[7m'].some((mark) => shown.includes(mark))).toBe(true);
          fitting(prompt, { status: 'done' }, place);
          fitting(prompt, { status: 'left' }, place);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it('a list that changes keeps the focus on its option, and loses it with it', () => {
  let options = ['a', 'b', 'c'].map((value) => ({ value, label: value }));
  const prompt = createChoice({
    label: 'Which?',
    get options() {
      return options;
    },
  });
  prompt.press(undefined, { name: 'down' });
  options = ['x', 'a', 'b'].map((value) => ({ value, label: value }));
  expect(prompt.value()).toBe('b');
  options = ['x', 'a'].map((value) => ({ value, label: value }));
  expect(prompt.value()).toBe('a');
  options = [];
  expect(prompt.fault()).toBeDefined();
});

it('a list of several choices shows the row that has the focus without colours, too', () => {
  for (const hasSymbols of [true, false]) {
    const prompt = severalOf(['a', 'b', 'c']);
    const look = () =>
      prompt.frame({ status: 'open' }, { columns: 60, rows: 20, hasColour: false, hasSymbols }).join('\n');
    const looks = [0, 1, 2].map(() => {
      prompt.press(undefined, { name: 'down' });
      return look();
    });
    expect(new Set(looks).size).toBe(3);
  }
});

it.each([
  ['a', { name: 'a' }, ['a', 'b']],
  ['Ctrl+A', { name: 'a', ctrl: true }, []],
  ['Alt+A', { name: 'a', meta: true }, []],
])('%s in a list of several choices', (_name, key, picked) => {
  const prompt = severalOf(['a', 'b']);
  prompt.press(undefined, key);
  expect(prompt.value()).toEqual(picked);
});

function severalOf(values: readonly string[]) {
  const options = values.map((value) => ({ value, label: value }));
  return createMultiChoice({ label: 'Which?', options, initial: [], validate: () => undefined });
}

it('a row of a text ends before the character that is too wide for it', () => {
  expect(rowsOf('a会b', 2)).toEqual([
    { start: 0, end: 1 },
    { start: 1, end: 2 },
    { start: 2, end: 3 },
  ]);
});

it('plain prompts print no control character of a default, and nothing of a hidden one', async () => {
  const output = new PassThrough();
  const input = Object.assign(new PassThrough(), { setRawMode: () => undefined });
  const screen = createPlainScreen({ input, output } as unknown as TerminalStreams);
  const prompt = { label: 'Name', initial: 'a\u001b[2Jb', validate: () => undefined };
  for (const read of [screen.text, screen.hidden]) {
    const left = new AbortController();
    const entered = read(prompt, left.signal);
    left.abort();
    expect(await entered).toBe(LEFT);
  }
  const printed = stripVTControlCharacters(String(output.read()));
  expect(printed).toContain('(empty for a[U+001B][2Jb)');
  expect(printed.split('2J')).toHaveLength(2);
});
