/** Forms as people fill them in, and what becomes of it: one set for the widget and for the server. */

export interface FormFixture {
  readonly what: string;
  /** The schema of the field `f`. */
  readonly field: Readonly<Record<string, unknown>>;
  readonly required?: boolean;
  /** What the person left in the control; nothing when it was not touched. */
  readonly typed?: string | boolean | readonly string[];
  /** What the answer holds for `f`: a value, or nothing when the field is left out. Or, `fault`: the rule it breaks. */
  readonly answered?: unknown;
  readonly fault?: string;
}

const text = { type: 'string' };
const short = { type: 'string', minLength: 2, maxLength: 4 };
const number = { type: 'number', minimum: -2.5, maximum: 1_000 };
const integer = { type: 'integer' };
const bool = { type: 'boolean' };
const select = { type: 'string', enum: ['a', 'b', ''], enumNames: ['Apple', 'Pear', 'Neither'] };
const titled = { type: 'string', oneOf: [{ const: 'x', title: 'Ex' }] };
const multi = { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 };
const titledMulti = { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } };
const format = (name: string) => ({ type: 'string', format: name });

const TEXTS: readonly FormFixture[] = [
  { what: 'text as it was typed, blanks and all', field: text, typed: ' Ada\n', answered: ' Ada\n' },
  { what: 'no text in an optional field', field: text, typed: '' },
  { what: 'an untouched optional field', field: text },
  { what: 'no text in a required field', field: text, required: true, typed: '', fault: 'required' },
  { what: 'an untouched required field', field: text, required: true, fault: 'required' },
  { what: 'a default that was left alone', field: { ...text, default: 'Ada' }, answered: 'Ada' },
  { what: 'a default that was changed', field: { ...text, default: 'Ada' }, typed: 'Bo', answered: 'Bo' },
  { what: 'a default that was cleared', field: { ...text, default: 'Ada' }, typed: '' },
  {
    what: 'a required default that was cleared',
    field: { ...text, default: 'Ada' },
    required: true,
    typed: '',
    fault: 'required',
  },
  { what: 'text of the least length, counted in code points', field: short, typed: '😀😀', answered: '😀😀' },
  { what: 'text too short', field: short, typed: '😀', fault: 'minLength' },
  { what: 'text too long', field: short, typed: 'abcde', fault: 'maxLength' },
  { what: 'a novel', field: text, typed: 'x'.repeat(10_001), fault: 'maxLength' },
  { what: 'a lone surrogate', field: text, typed: '\ud83d', fault: 'unicode' },
  { what: 'a NUL', field: text, typed: 'a\0', fault: 'nul' },
  { what: 'markup, which is text', field: text, typed: '<b>x</b>', answered: '<b>x</b>' },
  { what: 'an email', field: format('email'), typed: ' ada@example.com ', answered: 'ada@example.com' },
  { what: 'half an email', field: format('email'), typed: 'ada@', fault: 'format' },
  { what: 'a uri', field: format('uri'), typed: 'https://example.com/', answered: 'https://example.com/' },
  { what: 'a script for a uri', field: format('uri'), typed: 'javascript:alert(1)', fault: 'format' },
  { what: 'a date', field: format('date'), typed: '2028-02-29', answered: '2028-02-29' },
  { what: 'a day that does not exist', field: format('date'), typed: '2026-02-29', fault: 'format' },
  { what: 'a date without a date', field: format('date'), required: true, typed: '', fault: 'required' },
  {
    what: 'a time with its offset',
    field: format('date-time'),
    typed: '2026-03-01T09:30:00+05:30',
    answered: '2026-03-01T09:30:00+05:30',
  },
  {
    what: 'a time that does not exist',
    field: format('date-time'),
    typed: '2026-02-30T09:30',
    fault: 'format',
  },
  { what: 'a time without a clock', field: format('date-time'), typed: '2026-03-01', fault: 'format' },
  { what: 'an hour too late', field: format('date-time'), typed: '2026-03-01T24:30', fault: 'format' },
  {
    what: 'a default time, which its control shows to the second only',
    field: { ...format('date-time'), default: '2026-03-01T09:30:12.345-08:00' },
    answered: '2026-03-01T09:30:12.345-08:00',
  },
];

const NUMBERS: readonly FormFixture[] = [
  { what: 'a decimal', field: number, typed: ' 1.5 ', answered: 1.5 },
  { what: 'a negative one with a typographic minus', field: number, typed: '\u22122.5', answered: -2.5 },
  { what: 'scientific notation', field: number, typed: '1e2', answered: 100 },
  { what: 'a decimal comma', field: number, typed: '1,5', fault: 'comma' },
  { what: 'grouped thousands', field: number, typed: '1,000', fault: 'comma' },
  { what: 'a word', field: number, typed: 'seven', fault: 'number' },
  { what: 'two numbers', field: number, typed: '1 2', fault: 'number' },
  { what: 'a hexadecimal', field: number, typed: '0x10', fault: 'number' },
  { what: 'infinity', field: number, typed: 'Infinity', fault: 'number' },
  { what: 'a number beyond all others', field: number, typed: '1e400', fault: 'number' },
  { what: 'a number too small', field: number, typed: '-2.6', fault: 'minimum' },
  { what: 'a number too large', field: number, typed: '1000.5', fault: 'maximum' },
  { what: 'zero, which is a number', field: integer, required: true, typed: '0', answered: 0 },
  { what: 'minus zero', field: integer, typed: '-0', answered: 0 },
  { what: 'a whole number with decimals', field: integer, typed: '7.0', answered: 7 },
  { what: 'half a number', field: integer, typed: '7.5', fault: 'integer' },
  {
    what: 'a fraction that rounding would swallow',
    field: integer,
    typed: '9007199254740990.9',
    fault: 'integer',
  },
  { what: 'the largest safe integer', field: integer, typed: '9007199254740991', answered: 2 ** 53 - 1 },
  { what: 'the one after it', field: integer, typed: '9007199254740993', fault: 'safe' },
  { what: 'no number in an optional field', field: integer, typed: ' ' },
  { what: 'no number in a required field', field: integer, required: true, typed: '', fault: 'required' },
  { what: 'a default number', field: { ...integer, default: 5 }, answered: 5 },
  { what: 'a default number that was cleared', field: { ...integer, default: 5 }, typed: '' },
];

const CHOICES: readonly FormFixture[] = [
  { what: 'a box that was ticked', field: bool, typed: true, answered: true },
  { what: 'a box that was ticked and unticked', field: bool, typed: false, answered: false },
  { what: 'an untouched optional box', field: bool },
  { what: 'an untouched required yes or no', field: bool, required: true, fault: 'required' },
  { what: 'a default tick', field: { ...bool, default: true }, answered: true },
  {
    what: 'a default tick that was taken away',
    field: { ...bool, default: true },
    typed: false,
    answered: false,
  },
  { what: 'a choice', field: select, typed: 'b', answered: 'b' },
  { what: 'an empty text that is a choice', field: select, required: true, typed: '', answered: '' },
  { what: 'no choice where one is needed', field: select, required: true, fault: 'required' },
  { what: 'no choice where none is needed', field: select },
  { what: 'the name of a choice instead of its value', field: select, typed: 'Apple', fault: 'choice' },
  { what: 'a titled choice', field: titled, typed: 'x', answered: 'x' },
  { what: 'the title of a choice', field: titled, typed: 'Ex', fault: 'choice' },
  { what: 'two choices, in the order of the list', field: multi, typed: ['c', 'a'], answered: ['a', 'c'] },
  { what: 'too many choices', field: multi, typed: ['a', 'b', 'c'], fault: 'maxItems' },
  { what: 'too few choices', field: multi, required: true, typed: [], fault: 'minItems' },
  { what: 'no choices in an optional field', field: multi, typed: [] },
  { what: 'default choices that were cleared', field: { ...multi, default: ['a'] }, typed: [] },
  {
    what: 'default choices, in the order of the list',
    field: { ...multi, default: ['b', 'a'] },
    answered: ['a', 'b'],
  },
  { what: 'an untouched required list', field: titledMulti, required: true, answered: [] },
  { what: 'an untouched required list of some', field: multi, required: true, fault: 'minItems' },
  { what: 'a choice twice', field: multi, typed: ['a', 'a'], answered: ['a'] },
  { what: 'a choice that is not there', field: multi, required: true, typed: ['d'], fault: 'minItems' },
  {
    what: 'no choices, which is an answer here',
    field: titledMulti,
    required: true,
    typed: [],
    answered: [],
  },
  { what: 'a titled choice of many', field: titledMulti, typed: ['a'], answered: ['a'] },
];

export const FORM_FIXTURES: readonly FormFixture[] = [...TEXTS, ...NUMBERS, ...CHOICES];
