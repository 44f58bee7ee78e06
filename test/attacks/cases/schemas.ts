import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf } from '../../harness/attacks/call.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const text = { type: 'string' };
const form = (properties: unknown, more: object = {}) => ({ type: 'object', properties, ...more });
const field = (definition: unknown) => form({ field: definition });
const wide = (width: number) =>
  form(Object.fromEntries(Array.from({ length: width }, (_, index) => [`f${index}`, text])));

/**
 * What is wrong, the schema, and where the refusal must point: one of each kind. test/unit/domain/form-schema.test.ts holds
 * every rule.
 */
const BAD_SCHEMAS: readonly (readonly [what: string, schema: unknown, path: string])[] = [
  ['B6 a nested object', field(form({ inner: text })), 'properties.field'],
  ['B6 $ref to elsewhere', field({ $ref: 'https://example.com/schema.json' }), 'properties.field'],
  ['B6 $ref at the top', { $ref: '#/$defs/a', $defs: { a: form({ a: text }) } }, ''],
  ['B6 S10 pattern', field({ ...text, pattern: '^(a+)+$' }), 'properties.field.pattern'],
  ['B6 S10 patternProperties', form({}, { patternProperties: { '^(a+)+$': text } }), 'patternProperties'],
  ['B6 allOf', form({ a: text }, { allOf: [form({ b: text })] }), 'allOf'],
  ['B6 null', null, ''],
  ['B6 a list', [], ''],
  ['B7 51 fields', wide(51), 'properties'],
  ['B7 33 kB of description', form({ a: text }, { description: 'x'.repeat(33 * 1024) }), ''],
  [
    'B8 bounds that exclude each other',
    field({ type: 'number', minimum: 2, maximum: 1 }),
    'properties.field',
  ],
  ['B8 a default of another type', field({ ...text, default: 1 }), 'properties.field.default'],
  ['B8 required names the prototype', form({ a: text }, { required: ['toString'] }), 'required'],
  ['B16 a title that reads backwards', field({ ...text, title: 'a\u202eb' }), 'properties.field.title'],
  ['B16 a choice that reads backwards', field({ ...text, enum: ['a\u2066b'] }), 'properties.field.enum'],
  ['B16 a name that reads backwards', form({ 'a\u202eb': text }), 'properties'],
  ['B16 a name with a line break', form({ 'a\nb': text }), 'properties'],
];

export function schemaAttacks(world: () => World): void {
  describe('schemas', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    const ask = (more: object) =>
      world().call({ ...POST_ASK, token: SERVICE_KEYS.acme, body: { ...question(person.userId), ...more } });

    it.each(BAD_SCHEMAS)(
      '%s is 400 and the refusal names the place',
      async (_what, requestedSchema, path) => {
        const problem = expectProblem(await ask({ requestedSchema }), 400, 'invalid_request');
        const wanted = path === '' ? 'requestedSchema' : `requestedSchema.${path}`;
        expect(pathsOf(problem).some((place) => place.startsWith(wanted))).toBe(true);
      },
    );

    it('a refusal of a thousand faults is short', async () => {
      const content = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, null]));
      const required = Object.keys(content).slice(0, 2_000);
      const requestedSchema = form(wide(49).properties, { required });
      for (const more of [{ onUnavailable: { content } }, content, { requestedSchema }]) {
        const reply = await ask(more);
        expectProblem(reply, 400, 'invalid_request');
        expect(reply.text.length).toBeLessThan(20_000);
      }
    });
  });
}
