import type { Ask } from '@parley/sdk/elicit';

/** One kind of question: how a person types the answer, what a client sends, and what the asker gets. */
export interface KindCase {
  readonly name: string;
  readonly ask: Ask;
  /** Typed or sent first, and refused with the fault. */
  readonly wrong?: { readonly keys: readonly Keys[]; readonly content: KindContent; readonly fault: RegExp };
  readonly keys: readonly Keys[];
  /** The content of the same answer over a protocol. */
  readonly content: KindContent | undefined;
  readonly value: unknown;
}

type KindContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A text that is typed, or the name of a key. */
export type Keys = { readonly type: string } | { readonly press: string };

const type = (text: string): Keys => ({ type: text });
const press = (...names: readonly string[]): Keys[] => names.map((name) => ({ press: name }));
const back = (times: number): Keys[] => Array.from({ length: times }, () => ({ press: 'BSpace' }));

/** The kind that no protocol carries, so that MCP and Parley cannot ask it; a terminal can. */
export const SECRET = { kind: 'secret', message: 'The password of the tracker?' } as const satisfies Ask;

/**
 * Every other kind, and all ways of a person to answer it: a pseudo-terminal and `parley answer` (suite.ts), the official
 * MCP client (mcp.test.ts, and mcp-server/clients.test.ts at Parley's own endpoint) and the widget
 * (test/browser/widget/states-kinds.ts).
 */
export const KINDS: readonly KindCase[] = [
  {
    name: 'text',
    ask: { kind: 'text', message: 'Your name?', minLength: 2 },
    wrong: { keys: [type('A'), ...press('Enter')], content: { answer: 'A' }, fault: /at least 2 characters/ },
    keys: [type('Ada'), ...press('Enter')],
    content: { answer: 'Ada' },
    value: 'Ada',
  },
  {
    name: 'choice',
    ask: {
      kind: 'choice',
      message: 'Which colour?',
      options: ['red', { value: 'blue', title: 'Deep blue' }],
    },
    keys: press('Down', 'Enter'),
    content: { answer: 'blue' },
    value: 'blue',
  },
  {
    name: 'choice with other',
    ask: { kind: 'choice', message: 'Which fruit?', options: ['apple'], other: true },
    keys: [...press('Down', 'Enter'), type('quince'), ...press('Enter')],
    content: { answer: '__other__', answer_other: 'quince' },
    value: 'quince',
  },
  {
    name: 'multi choice',
    ask: { kind: 'multi_choice', message: 'Which regions?', options: ['eu', 'us', 'ap'], min: 1 },
    wrong: { keys: press('Enter'), content: { answer: [] }, fault: /at least 1 choices/ },
    keys: press('Space', 'Down', 'Space', 'Enter'),
    content: { answer: ['eu', 'us'] },
    value: ['eu', 'us'],
  },
  {
    name: 'number',
    ask: { kind: 'number', message: 'How many pods?', min: 1, max: 5, integer: true },
    wrong: { keys: [type('9'), ...press('Enter')], content: { answer: 9 }, fault: /at most 5/ },
    keys: [type('4'), ...press('Enter')],
    content: { answer: 4 },
    value: 4,
  },
  {
    name: 'date',
    ask: { kind: 'date', message: 'Which day?', min: '2026-01-01' },
    wrong: {
      keys: [type('2026-13-01'), ...press('Enter')],
      content: { answer: '2026-13-01' },
      fault: /real date/,
    },
    keys: [type('2026-12-01'), ...press('Enter')],
    content: { answer: '2026-12-01' },
    value: '2026-12-01',
  },
  {
    name: 'confirmation',
    ask: { kind: 'confirmation', message: 'Is it urgent?' },
    keys: press('Down', 'Enter'),
    content: { answer: false },
    value: false,
  },
  {
    name: 'form',
    ask: {
      kind: 'form',
      message: 'Tell me of the release.',
      fields: {
        version: { kind: 'text', title: 'Version' },
        size: { kind: 'choice', title: 'Size', options: ['small', 'large'] },
        note: { kind: 'text', title: 'Note', optional: true },
      },
    },
    keys: [type('4.2'), ...press('Enter', 'Enter', 'Enter')],
    content: { version: '4.2', size: 'small' },
    value: { version: '4.2', size: 'small' },
  },
  {
    name: 'url',
    ask: { kind: 'url', message: 'Read the terms.', url: 'https://terms.example/of/use' },
    keys: press('Up', 'Enter'),
    content: undefined,
    value: undefined,
  },
  {
    name: 'approval',
    ask: { kind: 'approval', message: 'May I?', action: 'Delete 14 files', details: { folder: '/srv/old' } },
    keys: press('Enter', 'Enter'),
    content: { decision: 'approved' },
    value: { decision: 'approved' },
  },
];

/** The keys that take a refused input back: a text stays in its line. */
export function keysBack({ wrong }: KindCase): readonly Keys[] {
  const typed = wrong?.keys.find((keys) => 'type' in keys);
  return typed === undefined ? [] : back('type' in typed ? typed.type.length : 0);
}

/** The case of a question by the beginning of its message. */
export function caseOf(message: string): KindCase {
  const found = KINDS.find(({ ask }) => message.startsWith(ask.message));
  if (found === undefined) throw new Error(`No case asks: ${message}`);
  return found;
}
