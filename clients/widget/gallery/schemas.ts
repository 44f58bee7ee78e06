/** The form schemas of the gallery, also used as hostile and extreme examples. The cards that show them are in `states.ts`. */

/** A form with two or three fields, like most questions. */
export const TRIP = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      title: 'Name on the ticket',
      minLength: 2,
      maxLength: 60,
      default: 'Ada Lovelace',
    },
    class: {
      type: 'string',
      title: 'Class',
      oneOf: [
        { const: '2', title: 'Second class' },
        { const: '1', title: 'First class, + 22 €' },
      ],
      default: '2',
    },
    quiet: { type: 'boolean', title: 'Seat in the quiet carriage', default: true },
  },
  required: ['name', 'class'],
};

/** A form with every kind of field, with bounds and formats. */
export const CONTROLS = {
  type: 'object',
  properties: {
    text: {
      type: 'string',
      title: 'Text',
      description: 'A line of text, with bounds.',
      minLength: 3,
      maxLength: 40,
    },
    long: { type: 'string', title: 'Long text', maxLength: 2000 },
    email: { type: 'string', title: 'Email', format: 'email' },
    uri: { type: 'string', title: 'Address of a page', format: 'uri' },
    date: { type: 'string', title: 'Day', format: 'date', default: '2026-03-01' },
    moment: { type: 'string', title: 'Day and time', format: 'date-time' },
    number: { type: 'number', title: 'Number', minimum: -5, maximum: 99.5 },
    integer: { type: 'integer', title: 'Whole number', minimum: 1, maximum: 9, default: 2 },
    yes: { type: 'boolean', title: 'Yes or no', description: 'A default fills it in.', default: true },
    said: { type: 'boolean', title: 'Yes or no that has to be said' },
    few: { type: 'string', title: 'One of a few', enum: ['Small', 'Medium', 'Large'] },
    legacy: {
      type: 'string',
      title: 'One of a few, with names',
      enum: ['s', 'm'],
      enumNames: ['Small', 'Medium'],
    },
    many: {
      type: 'string',
      title: 'One of many',
      oneOf: Array.from({ length: 12 }, (_, at) => ({ const: `m${at + 1}`, title: `Month ${at + 1}` })),
    },
    several: {
      type: 'array',
      title: 'Several, with bounds',
      items: { type: 'string', enum: ['Bread', 'Cheese', 'Olives', 'Figs'] },
      minItems: 1,
      maxItems: 3,
    },
    named: {
      type: 'array',
      title: 'Several, with names',
      items: {
        anyOf: [
          { const: 'mo', title: 'Monday' },
          { const: 'tu', title: 'Tuesday' },
          { const: 'we', title: 'Wednesday' },
        ],
      },
      default: ['mo'],
    },
  },
  required: ['text', 'said', 'few', 'several'],
};

/** A form with hostile texts, as an asker may send them. */
export const HOSTILE_SCHEMA = {
  type: 'object',
  properties: {
    '<b>key</b>': {
      type: 'string',
      title: '"><img src=x onerror=alert(3)>',
      description: 'See https://evil.example and <a href="https://evil.example">this</a>. \u202Ereversed',
      default: '<script>alert(4)</script>',
    },
    pick: {
      type: 'string',
      title: 'Choices',
      oneOf: [
        { const: '<i>1</i>', title: '<i>one</i>' },
        { const: '2', title: '\u202Eowt' },
      ],
    },
  },
};

/** A form with the maximum number of fields. */
export const FIFTY = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`field${at + 1}`, { type: 'string', title: `Field ${at + 1}` }]),
  ),
};
