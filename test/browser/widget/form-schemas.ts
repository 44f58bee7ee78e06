/** Forms for the test of the widget's form. */

const COUNTRIES = Array.from({ length: 12 }, (_, at) => ({ const: `c${at}`, title: `c${at}` }));
const COLOURS = { anyOf: ['red', 'green', 'blue'].map((value) => ({ const: value, title: titleOf(value) })) };
const SIZES = [
  { const: 's', title: 'Small size' },
  { const: 'm', title: 'Medium size' },
];

function titleOf(value: string): string {
  return value.charAt(0).toUpperCase() + value.slice(1);
}

/** One field of every kind, all required but two, none with a default. */
export const EVERY_KIND = {
  type: 'object',
  title: 'Order',
  description: 'What we need to know.',
  properties: {
    name: { type: 'string', title: 'Name', description: 'What you are called.' },
    story: { type: 'string', title: 'Story', maxLength: 2_000 },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    site: { type: 'string', title: 'Site', format: 'uri' },
    day: { type: 'string', title: 'Day', format: 'date' },
    moment: { type: 'string', title: 'Moment', format: 'date-time' },
    price: { type: 'number', title: 'Price' },
    count: { type: 'integer', title: 'Count', minimum: 0, maximum: 10 },
    news: { type: 'boolean', title: 'Newsletter', description: 'Once a month.' },
    terms: { type: 'boolean', title: 'Terms' },
    size: { type: 'string', title: 'Size', oneOf: SIZES },
    country: { type: 'string', title: 'Country', oneOf: COUNTRIES },
    colours: { type: 'array', title: 'Colours', items: COLOURS, minItems: 1, maxItems: 2 },
  },
  required: ['name', 'mail', 'day', 'moment', 'price', 'count', 'terms', 'size', 'country', 'colours'],
};

/** Optional fields with a default each, and the content that they produce unchanged. */
export const PRESET = {
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'Ada' },
      story: { type: 'string', default: 'first\nsecond' },
      moment: { type: 'string', format: 'date-time', default: '2026-03-01T09:30:00.250Z' },
      price: { type: 'number', default: 0.1 },
      news: { type: 'boolean', default: true },
      size: { type: 'string', enum: ['s', ''], enumNames: ['Small', 'None'], default: '' },
      country: { type: 'string', oneOf: COUNTRIES, default: 'c3' },
      colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] }, default: ['blue'] },
    },
  },
  content: {
    name: 'Ada',
    story: 'first\nsecond',
    moment: '2026-03-01T09:30:00.250Z',
    price: 0.1,
    news: true,
    size: '',
    country: 'c3',
    colours: ['blue'],
  },
};

/** A bound or a format for everything that can have one. */
export const BOUNDED = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    price: { type: 'number' },
    count: { type: 'integer', minimum: 0, maximum: 10 },
    late: { type: 'string', maxLength: 5 },
    terms: { type: 'boolean' },
    size: { type: 'string', enum: ['s', 'm'] },
    colours: { type: 'array', items: { type: 'string', enum: ['red', 'green', 'blue'] }, maxItems: 2 },
  },
  required: ['name', 'terms', 'size'],
};

const MARKUP = '<img src=x onerror=alert(1)><a href="javascript:alert(1)">a</a> https://evil.example/ ';
const LONG = `\u202eevil ${MARKUP}${'x'.repeat(9_900)}`;

/** Texts that imitate mark-up, or are very long. */
export const HOSTILE = {
  type: 'object',
  title: LONG,
  description: LONG,
  properties: {
    [LONG]: { type: 'string', description: LONG },
    constructor: { type: 'string', title: 'constructor' },
    few: { type: 'string', title: LONG, oneOf: [{ const: 'a', title: LONG }] },
    many: {
      type: 'string',
      title: MARKUP,
      oneOf: Array.from({ length: 9 }, (_, at) => ({ const: `${at}`, title: `${at}${LONG}` })),
    },
    boxes: { type: 'array', title: MARKUP, items: { type: 'string', enum: [LONG, MARKUP] } },
    box: { type: 'boolean', title: LONG, description: MARKUP },
  },
  required: [LONG, 'few', 'many', 'boxes'],
};
