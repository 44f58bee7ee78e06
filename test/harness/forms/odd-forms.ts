import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';

/** A field as a person meets it on a surface. */
export interface SeenControl {
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The words of its choices; none for a yes or no, whose words are the surface's own. */
  readonly choices: readonly string[];
  /** The text in it, or the words of what is chosen: before the person does anything. */
  readonly initial: readonly string[];
  readonly hasLines: boolean;
}

/** A field of the odd form, and what every surface makes of it. What `seen` leaves out is empty, the label is the name. */
export interface OddField {
  readonly field: Readonly<Record<string, unknown>>;
  readonly isRequired?: boolean;
  readonly seen?: Partial<SeenControl>;
  /** What the person is told about its bounds. */
  readonly hint?: string;
  /** Slack has no input for it: the person answers on the page. */
  readonly isBeyondSlack?: boolean;
}

const text = { type: 'string' };
const oneOf = (...options: readonly (readonly [value: string, title: string])[]) => ({
  type: 'string',
  oneOf: options.map(([value, title]) => ({ const: value, title })),
});
const several = (values: readonly string[], more: object = {}) => ({
  type: 'array',
  items: { type: 'string', enum: values },
  ...more,
});
const LETTERS = [...'abcdefghijkl'];
const LONG = 'long '.repeat(20).trim();

/** One field of each kind and of each oddity, by its name. */
export const ODD_FIELDS: Readonly<Record<string, OddField>> = {
  plain: { field: text },
  'empty title': { field: { ...text, title: '' } },
  'title of blanks': { field: { ...text, title: '  ' } },
  'title of lines': { field: { ...text, title: 'Two\n lines ' }, seen: { label: 'Two lines' } },
  'long title': { field: { ...text, title: 'x'.repeat(256) }, seen: { label: 'x'.repeat(256) } },
  'empty description': { field: { ...text, description: '' } },
  described: {
    field: { ...text, title: 'Name', description: 'As in *the* passport.' },
    seen: { label: 'Name', description: 'As in *the* passport.' },
  },
  'first twin': { field: { ...text, title: 'Twin' }, seen: { label: 'Twin (first twin)' } },
  'second twin': { field: { type: 'boolean', title: ' Twin' }, seen: { label: 'Twin (second twin)' } },
  'preset text': { field: { ...text, default: 'Ada' }, isRequired: true, seen: { initial: ['Ada'] } },
  'empty preset': { field: { ...text, default: '' } },
  'empty preset that is required': { field: { ...text, default: '' }, isRequired: true },
  'preset controls': {
    field: { ...text, default: 'a\u0007b\u001b[2Jc' },
    seen: { initial: ['a\u0007b\u001b[2Jc'] },
  },
  'preset lines and an empty one': {
    field: { ...text, default: 'line\n' },
    seen: { initial: ['line\n'], hasLines: true },
  },
  'preset lines of Windows': {
    field: { ...text, default: 'a\r\nb' },
    seen: { initial: ['a\r\nb'], hasLines: true },
  },
  'preset lines of old': { field: { ...text, default: 'a\rb' }, seen: { initial: ['a\rb'], hasLines: true } },
  'preset lines': { field: { ...text, default: 'a\nb' }, seen: { initial: ['a\nb'], hasLines: true } },
  'line at most': { field: { ...text, maxLength: 200 }, hint: 'At most 200 characters' },
  'lines at most': {
    field: { ...text, maxLength: 201 },
    seen: { hasLines: true },
    hint: 'At most 201 characters',
  },
  'lines at least': {
    field: { ...text, minLength: 201, maxLength: 20_000 },
    seen: { hasLines: true },
    hint: '201 to 10,000 characters',
  },
  'no bound': { field: { ...text, minLength: 0 } },
  exact: { field: { ...text, minLength: 1, maxLength: 1 }, hint: 'Exactly 1 character' },
  'too long for Slack': {
    field: { ...text, minLength: 3_001 },
    seen: { hasLines: true },
    hint: 'At least 3,001 characters',
    isBeyondSlack: true,
  },
  mail: { field: { ...text, format: 'email', maxLength: 500 }, hint: 'At most 500 characters' },
  uri: {
    field: { ...text, format: 'uri', default: 'https://example.com/a' },
    seen: { initial: ['https://example.com/a'] },
  },
  date: { field: { ...text, format: 'date', default: '2026-03-01' }, seen: { initial: ['2026-03-01'] } },
  time: { field: { ...text, format: 'date-time', minLength: 2 } },
  'old time': {
    field: { ...text, format: 'date-time', default: '2001-09-09T01:46:39Z' },
    seen: { initial: ['2001-09-09T01:46:39Z'] },
    isBeyondSlack: true,
  },
  number: {
    field: { type: 'number', minimum: -2.5, default: 0 },
    seen: { initial: ['0'] },
    hint: 'At least -2.5',
  },
  'whole number between': {
    field: { type: 'integer', minimum: 0.5, maximum: 2.5 },
    isRequired: true,
    hint: '1 to 2',
  },
  'only zero': { field: { type: 'integer', minimum: 0, maximum: 0 }, hint: 'Exactly 0' },
  'bound beyond Slack': { field: { type: 'number', minimum: -1e300 }, hint: 'At least -1e+300' },
  'small number': {
    field: { type: 'number', default: 1e-7 },
    seen: { initial: ['1e-7'] },
    isBeyondSlack: true,
  },
  'yes or no': { field: { type: 'boolean' } },
  'must be yes or no': { field: { type: 'boolean' }, isRequired: true },
  'preset yes': { field: { type: 'boolean', default: true }, seen: { initial: ['Yes'] } },
  values: { field: { ...text, enum: ['a', 'b'] }, seen: { choices: ['a', 'b'] } },
  'empty names': {
    field: { ...text, enum: ['a', 'b'], enumNames: ['', 'B'] },
    seen: { choices: ['a', 'B'] },
  },
  'empty titles': { field: oneOf(['a', ''], ['b', ' ']), isRequired: true, seen: { choices: ['a', 'b'] } },
  'equal titles': {
    field: oneOf(['a', 'Same'], ['b', 'Same '], ['c', 'Other']),
    seen: { choices: ['Same (a)', 'Same (b)', 'Other'] },
  },
  'titles like labels': {
    field: oneOf(['a', 'X'], ['b', 'X'], ['c', 'X (a)']),
    seen: { choices: ['X (a) (a)', 'X (b)', 'X (a) (c)'] },
  },
  'values alike': { field: { ...text, enum: ['a', 'a '] }, seen: { choices: ['1. a', '2. a'] } },
  'long titles': { field: oneOf(['a', `${LONG} 1`], ['b', 'B']), seen: { choices: [`${LONG} 1`, 'B'] } },
  'alike in Slack': {
    field: oneOf(['a', `${LONG} 1`], ['b', `${LONG} 2`]),
    seen: { choices: [`${LONG} 1`, `${LONG} 2`] },
    isBeyondSlack: true,
  },
  'empty value': {
    field: { ...text, enum: ['', 'a'], default: '' },
    isRequired: true,
    seen: { choices: ['–', 'a'], initial: ['–'] },
  },
  'empty value with title': { field: oneOf(['', 'None'], ['a', 'A']), seen: { choices: ['None', 'A'] } },
  'one choice': { field: oneOf(['a', 'Only']), isRequired: true, seen: { choices: ['Only'] } },
  'many choices': {
    field: { ...text, enum: LETTERS, default: 'c' },
    seen: { choices: LETTERS, initial: ['c'] },
  },
  'too many choices for Slack': {
    field: { ...text, enum: Array.from({ length: 101 }, (_, at) => `n${at}`) },
    seen: { choices: Array.from({ length: 101 }, (_, at) => `n${at}`) },
    isBeyondSlack: true,
  },
  list: { field: several(['a', ''], { default: [''] }), seen: { choices: ['a', '–'], initial: ['–'] } },
  'list of some': {
    field: several(['a', 'b', 'c'], { minItems: 1, maxItems: 2 }),
    seen: { choices: ['a', 'b', 'c'] },
    hint: '1 to 2 choices',
  },
  'required list': {
    field: several(['a', 'b'], { minItems: 0 }),
    isRequired: true,
    seen: { choices: ['a', 'b'] },
  },
  'empty list': { field: several(['a', 'b'], { default: [] }), seen: { choices: ['a', 'b'] } },
  'empty list that is required': {
    field: several(['a', 'b'], { default: [] }),
    isRequired: true,
    seen: { choices: ['a', 'b'] },
  },
  'long list': {
    field: several(LETTERS, { maxItems: 12, default: ['b', 'a'] }),
    seen: { choices: LETTERS, initial: ['a', 'b'] },
    hint: 'At most 12 choices',
  },
  'list without titles': {
    field: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'a', title: '' },
          { const: 'b', title: 'B' },
        ],
      },
    },
    seen: { choices: ['a', 'B'] },
  },
};

export const ODD_NAMES: readonly string[] = Object.keys(ODD_FIELDS);

/** The odd fields as the form of one question. */
export const ODD_FORM: FormSchema = formOf(ODD_NAMES);

/** What is seen of a field on every surface. */
export function seenOf(name: string): SeenControl {
  const { isRequired = false, seen } = oddField(name);
  return {
    label: name,
    description: undefined,
    isRequired,
    choices: [],
    initial: [],
    hasLines: false,
    ...seen,
  };
}

/** The odd field of a name. */
export function oddField(name: string): OddField {
  const found = ODD_FIELDS[name];
  if (found === undefined) throw new Error(`There is no odd field ${name}.`);
  return found;
}

function formOf(names: readonly string[]): FormSchema {
  const properties = Object.fromEntries(names.map((name) => [name, oddField(name).field]));
  const required = names.filter((name) => oddField(name).isRequired === true);
  const check = checkFormSchema({ type: 'object', properties, required }, { properties: 100 });
  if (!check.ok) throw new Error(JSON.stringify(check.issues));
  return check.schema;
}
