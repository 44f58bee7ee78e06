import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { it } from 'vitest';
import { importSchema } from '../../../../services/api/src/agents/mcp/questions/import-schema.ts';
import { restoreContent } from '../../../../services/api/src/agents/mcp/questions/restores.ts';

// The server's own schema is the judge: whatever fits the form must be right for it.

const VALUES = ['', 'a', 'b', 'ab', '1', null, 0, 1, 2, 3, 1.5, true];
/** Answers to one field, by the texts of choices too. */
const ANSWERS = [
  undefined,
  'null',
  'true',
  '0',
  '2',
  '3',
  '1.5',
  [],
  ['a'],
  ['1'],
  ['b', 'a'],
  ['2', '3'],
  ...VALUES,
];

const value = fc.constantFrom(...VALUES);
const types = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null');
const small = fc.integer({ min: 0, max: 3 });

const { schema } = fc.letrec<{ schema: object; limits: object; wrapper: object; list: object }>((tie) => ({
  limits: fc.record(
    {
      type: fc.oneof({ weight: 3, arbitrary: types }, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4 }),
      const: value,
      minimum: small,
      exclusiveMaximum: small,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: small,
      maxLength: small,
      pattern: fc.constantFrom('^a', 'b$'),
      not: fc.record({ const: value }),
      title: fc.constant('A'),
      default: value,
    },
    { requiredKeys: [] },
  ),
  wrapper: fc
    .tuple(
      fc.constantFrom('anyOf', 'oneOf', 'allOf'),
      fc.array(fc.oneof(tie('schema'), fc.constant({ type: 'null' }), fc.record({ const: value })), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([key, schemas]) => ({ [key]: schemas })),
  list: fc.record(
    {
      type: fc.constantFrom('array', ['array', 'null']),
      items: tie('schema'),
      minItems: small,
      maxItems: small,
    },
    { requiredKeys: ['type', 'items'] },
  ),
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.record({ type: types }),
    tie('limits'),
    tie('wrapper'),
    tie('list'),
    fc.constantFrom('one', 'two').map((name) => ({ $ref: `#/$defs/${name}` })),
    fc.tuple(tie('limits'), tie('wrapper')).map(([limits, wrapper]) => ({ ...limits, ...wrapper })),
    tie('limits').map((limits) => ({ ...limits, $ref: '#/$defs/one' })),
  ),
}));

/** The definitions refer to nothing, so that no reference goes round. */
const forms = fc.record({
  type: fc.constant('object'),
  $defs: fc.record({
    one: fc.record({ type: types, minimum: small }),
    two: fc.record({ enum: fc.uniqueArray(value, { minLength: 1 }) }),
  }),
  properties: fc.record({ field: schema }),
  required: fc.constantFrom([], ['field']),
});

const ajv = new Ajv2020({ strict: false, meta: false, validateSchema: false, validateFormats: false });

it('every answer that fits the form is right for the schema of the server', () => {
  let asked = 0;
  const judge = (raw: { properties: { field: object } }) => {
    const imported = importSchema(raw, 'Which?');
    if (!imported.ok) return;
    const validate = ajv.compile(raw);
    for (const answer of ANSWERS) {
      const checked = checkFormAnswer(imported.schema, { field: answer });
      if (!checked.ok) continue;
      asked += 1;
      const restored = restoreContent(checked.content, imported.restores);
      if (!validate(restored))
        throw new Error(`${JSON.stringify(restored)} ${JSON.stringify(validate.errors)}`);
    }
  };
  fc.assert(fc.property(forms, judge), { numRuns: 300 });
  if (asked < 50) throw new Error(`Only ${asked} answers were judged.`);
});
