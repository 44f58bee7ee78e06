import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, expectSomeProblem, pathsOf } from '../../harness/attacks/call.ts';
import { holds } from '../../harness/attacks/seed.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const text = { type: 'string' };

function form(properties: unknown, more: object = {}) {
  return { type: 'object', properties, ...more };
}

function field(definition: unknown) {
  return form({ field: definition });
}

function nested(levels: number): unknown {
  let inner: unknown = text;
  for (let level = 0; level < levels; level += 1) inner = form({ inner });
  return inner;
}

const wide = (width: number) =>
  form(Object.fromEntries(Array.from({ length: width }, (_, index) => [`f${index}`, text])));

/** What is wrong, the schema, and where the refusal must point. */
const BAD_SCHEMAS: readonly (readonly [what: string, schema: unknown, path: string])[] = [
  ['B6 a nested object', field(form({ inner: text })), 'properties.field'],
  ['B6 thirty levels', nested(12), ''],
  ['B6 a list of objects', field({ type: 'array', items: form({ a: text }) }), 'properties.field'],
  ['B6 a list of lists', field({ type: 'array', items: { type: 'array', items: text } }), 'properties.field'],
  ['B6 $ref', field({ $ref: '#/properties/field' }), 'properties.field'],
  ['B6 $ref to elsewhere', field({ $ref: 'https://example.com/schema.json' }), 'properties.field'],
  ['B6 $ref at the top', { $ref: '#/$defs/a', $defs: { a: form({ a: text }) } }, ''],
  ['B6 $defs', form({ a: text }, { $defs: { a: text } }), '$defs'],
  ['B6 S10 pattern', field({ ...text, pattern: '^(a+)+$' }), 'properties.field.pattern'],
  ['B6 S10 patternProperties', form({}, { patternProperties: { '^(a+)+$': text } }), 'patternProperties'],
  ['B6 S10 propertyNames', form({}, { propertyNames: { pattern: '(a*)*b' } }), 'propertyNames'],
  ['B6 anyOf', field({ anyOf: [text, { type: 'number' }] }), 'properties.field'],
  ['B6 allOf', form({ a: text }, { allOf: [form({ b: text })] }), 'allOf'],
  ['B6 if and else', form({ a: text }, { if: {}, else: {} }), 'if'],
  ['B6 several types', field({ type: ['string', 'null'] }), 'properties.field'],
  ['B6 null', field({ type: 'null' }), 'properties.field'],
  ['B6 additionalProperties', form({ a: text }, { additionalProperties: true }), 'additionalProperties'],
  ['B6 a list at the top', { type: 'array', items: text }, 'type'],
  ['B6 a field that is true', field(true), 'properties.field'],
  ['B6 no properties', { type: 'object' }, 'properties'],
  ['B6 properties in a list', form([text]), 'properties'],
  ['B6 a keyword of our own making', field({ ...text, secret: true }), 'properties.field.secret'],
  ['B7 51 fields', wide(51), 'properties'],
  ['B7 5,000 fields', wide(5_000), 'properties'],
  ['B7 33 kB of description', form({ a: text }, { description: 'x'.repeat(33 * 1024) }), ''],
  ['B7 33 kB of names', form({ ['n'.repeat(33 * 1024)]: text }), ''],
  ['B7 251 choices', field({ ...text, enum: Array.from({ length: 251 }, String) }), 'properties.field.enum'],
  ['B8 an unknown format', field({ ...text, format: 'regex' }), 'properties.field.format'],
  ['B8 a format of the prototype', field({ ...text, format: 'toString' }), 'properties.field.format'],
  ['B8 lengths that exclude each other', field({ ...text, minLength: 5, maxLength: 4 }), 'properties.field'],
  ['B8 a length below zero', field({ ...text, minLength: -1 }), 'properties.field.minLength'],
  ['B8 half a character', field({ ...text, maxLength: 0.5 }), 'properties.field.maxLength'],
  [
    'B8 bounds that exclude each other',
    field({ type: 'number', minimum: 2, maximum: 1 }),
    'properties.field',
  ],
  ['B8 no whole number between', field({ type: 'integer', minimum: 0.2, maximum: 0.8 }), 'properties.field'],
  ['B8 a bound that is text', field({ type: 'number', minimum: '1' }), 'properties.field.minimum'],
  ['B8 no choices', field({ ...text, enum: [] }), 'properties.field.enum'],
  ['B8 a choice twice', field({ ...text, enum: ['a', 'a'] }), 'properties.field.enum'],
  ['B8 a choice that is no text', field({ ...text, enum: ['a', 1] }), 'properties.field.enum'],
  ['B8 too few names', field({ ...text, enum: ['a', 'b'], enumNames: ['A'] }), 'properties.field.enumNames'],
  ['B8 a default of another type', field({ ...text, default: 1 }), 'properties.field.default'],
  ['B8 a default too long', field({ ...text, maxLength: 1, default: 'ab' }), 'properties.field.default'],
  [
    'B8 a default that is no choice',
    field({ ...text, enum: ['a'], default: 'b' }),
    'properties.field.default',
  ],
  ['B8 required names nothing', form({ a: text }, { required: ['b'] }), 'required'],
  ['B8 required names the prototype', form({ a: text }, { required: ['toString'] }), 'required'],
  ['B8 more items than choices', multi({ minItems: 3 }), 'properties.field'],
  ['B16 a title that reads backwards', field({ ...text, title: 'a\u202eb' }), 'properties.field.title'],
  ['B16 a choice that reads backwards', field({ ...text, enum: ['a\u2066b'] }), 'properties.field.enum'],
  ['B16 a name that reads backwards', form({ 'a\u202eb': text }), 'properties'],
  ['B16 a name with a line break', form({ 'a\nb': text }), 'properties'],
  ['B16 a name without a character', form({ '': text }), 'properties'],
];

function multi(more: object) {
  return field({ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, ...more });
}

const anyKeyword = fc.constantFrom(
  ...['type', 'properties', 'required', 'enum', 'enumNames', 'items', 'anyOf', 'oneOf', 'default', 'format'],
  ...['minLength', 'maximum', 'minItems', 'const', '$ref', 'pattern', 'title', 'additionalProperties', 'x'],
);
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom('object', 'string', 'integer', 'array', 'boolean', 'email', 'x'),
    fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(anyKeyword, fc.string({ maxLength: 3 })), tie('value'), { maxKeys: 4 }),
  ),
})).value;
/** Near enough to a schema to be looked at closely. */
const anySchema = fc.oneof(
  fc.dictionary(anyKeyword, anyValue),
  fc.dictionary(anyKeyword, anyValue, { maxKeys: 4 }).map((properties) => field(properties)),
  fc
    .tuple(
      fc.constantFrom('string', 'number', 'integer', 'boolean', 'array'),
      fc.dictionary(anyKeyword, anyValue),
    )
    .map(([type, more]) => field({ ...more, type })),
);

export function schemaAttacks(world: () => World): void {
  describe('schemas', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    const askWith = (requestedSchema: unknown) =>
      world().call({
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        body: { ...question(person.userId), requestedSchema },
      });

    it.each(BAD_SCHEMAS)('%s is 400 and the refusal names the place', async (_what, schema, path) => {
      const problem = expectProblem(await askWith(schema), 400, 'invalid_request');
      const wanted = path === '' ? 'requestedSchema' : `requestedSchema.${path}`;
      expect(pathsOf(problem).some((place) => place.startsWith(wanted))).toBe(true);
    });

    it.each([null, [], 'string', 1, true])('B6 a schema that is %j is 400', async (schema) => {
      expectProblem(await askWith(schema), 400, 'invalid_request');
    });

    it('any schema is either accepted or refused', async () => {
      await holds(
        'B6-B8 schemas',
        fc.asyncProperty(anySchema, async (schema) => {
          const reply = await askWith(schema);
          if (reply.status === 201) {
            const { elicitationId } = reply.json as { elicitationId: string };
            const path = `/v1/elicitations/${elicitationId}`;
            await world().call({ method: 'DELETE', path, token: SERVICE_KEYS.acme });
          } else {
            expectProblem(reply, 400, 'invalid_request');
          }
        }),
        60,
      );
    });

    it('a refusal of a thousand faults is short', async () => {
      const content = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, null]));
      const bodies = [
        { ...question(person.userId), onUnavailable: { content } },
        { ...question(person.userId), ...content },
        {
          ...question(person.userId),
          requestedSchema: form(wide(49).properties, { required: Object.keys(content).slice(0, 2_000) }),
        },
      ];
      for (const body of bodies) {
        const reply = await world().call({ ...POST_ASK, token: SERVICE_KEYS.acme, body });
        expectSomeProblem(reply);
        expect(reply.status).toBe(400);
        expect(reply.text.length).toBeLessThan(20_000);
      }
    });
  });
}
