import { faultsOfArguments, isCheckable } from '@parley/shared/domain/approvals/check-arguments';
import { faultsOfEdit } from '@parley/shared/domain/approvals/edit';
import { MASK, maskArguments } from '@parley/shared/domain/approvals/mask';
import { isWithinSteps } from '@parley/shared/domain/approvals/schemas-at';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

type Schema = Readonly<Record<string, unknown>>;

/** Ways to put a schema into another one: the schema around it, and a value around one that the inner schema describes. */
const AROUND: readonly (readonly [
  name: string,
  around: (schema: Schema) => Schema,
  wrap: (value: unknown) => unknown,
])[] = [
  ['a property', (inner) => ({ type: 'object', properties: { a: inner } }), (value) => ({ a: value })],
  [
    'a property named properties',
    (inner) => ({ type: 'object', properties: { properties: inner } }),
    (value) => ({ properties: value }),
  ],
  [
    'a property named pattern',
    (inner) => ({ type: 'object', properties: { pattern: inner } }),
    (value) => ({ pattern: value }),
  ],
  [
    'additional properties',
    (inner) => ({ type: 'object', additionalProperties: inner }),
    (value) => ({ b: value }),
  ],
  ['the items of a list', (inner) => ({ type: 'array', items: inner }), (value) => [value]],
  ['the first items of a list', (inner) => ({ type: 'array', prefixItems: [inner] }), (value) => [value]],
  ['anyOf', (inner) => ({ anyOf: [{ type: 'boolean' }, inner] }), (value) => value],
  ['oneOf', (inner) => ({ oneOf: [{ type: 'boolean' }, inner] }), (value) => value],
  ['allOf', (inner) => ({ allOf: [inner] }), (value) => value],
];
const nesting = fc.array(fc.constantFrom(...AROUND), { maxLength: 4 });

/** A schema of an object in which `leaf` is nested, directly or by references, and arguments with `value` at its place. */
function nested(
  within: readonly (typeof AROUND)[number][],
  leaf: Schema,
  value: unknown,
  isReferred: boolean,
) {
  const definitions = isReferred ? { $defs: { leaf } } : {};
  const start: Schema = isReferred ? { $ref: '#/$defs/leaf' } : leaf;
  const inner = within.reduce((schema, [, around]) => around(schema), start);
  const content = within.reduce((each, [, , wrap]) => wrap(each), value);
  return {
    schema: { type: 'object', properties: { root: inner }, ...definitions },
    given: { root: content },
  };
}

describe('the check of edited arguments', () => {
  it('runs no regular expression of a schema, wherever it is', () => {
    const leaf = fc.constantFrom<Schema>(
      { type: 'string', pattern: '^never$' },
      { type: 'string', properties: {}, pattern: '^never$' },
      { type: 'string', pattern: '^never$', patternProperties: { '^never$': { type: 'number' } } },
    );
    fc.assert(
      fc.property(nesting, leaf, fc.boolean(), (within, schema, isReferred) => {
        const { schema: whole, given } = nested(within, schema, 'value', isReferred);
        expect(isCheckable(whole)).toBe(true);
        expect(faultsOfArguments(whole, given, [])).toEqual([]);
      }),
    );
    const byName = { type: 'object', patternProperties: { '^a': { type: 'number' } } };
    expect(faultsOfArguments(byName, { a: 'text' }, [])).toEqual([]);
  });

  it.each(['allOf', 'anyOf', 'oneOf'])(
    'refuses a schema whose %s doubles at each reference, at once',
    (keyword) => {
      const doubled = (levels: number, ends: object) => ({
        type: 'object',
        properties: { a: { $ref: '#/$defs/l0' } },
        $defs: Object.fromEntries(
          Array.from({ length: levels + 1 }, (_, at) => [
            `l${at}`,
            at === levels
              ? ends
              : { [keyword]: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
          ]),
        ),
      });
      expect(faultsOfArguments(doubled(40, { type: 'string' }), { a: 1 }, [])).toEqual([
        { path: '', message: expect.stringMatching(/cannot be checked/) },
      ]);
      expect(faultsOfArguments(doubled(3, { type: 'string' }), { a: 1 }, [])[0]).toMatchObject({ path: 'a' });
      const atOnce = { ...doubled(40, { type: 'object' }), $ref: '#/$defs/l0' };
      expect(isCheckable(atOnce)).toBe(false);
    },
  );

  it('refuses a schema that refers to itself without an end, and reads one that ends with its value', () => {
    expect(isCheckable({ $ref: '#' })).toBe(false);
    const tree = { type: 'object', properties: { child: { $ref: '#' }, name: { type: 'string' } } };
    expect(faultsOfArguments(tree, { child: { child: { name: 1 } } }, [])).toMatchObject([
      { path: 'child.child.name' },
    ]);
  });

  it('checks parameters that have the names of keywords', () => {
    const schema = {
      type: 'object',
      properties: {
        properties: { type: 'object' },
        pattern: { type: 'string' },
        patternProperties: { type: 'number' },
      },
      required: ['pattern'],
    };
    const given = { properties: {}, pattern: 5, patternProperties: 'x' };
    expect(faultsOfArguments(schema, given, []).map(({ path }) => path)).toEqual([
      'pattern',
      'patternProperties',
    ]);
  });
});

describe('what a server’s schema costs', () => {
  const judge = (schema: object, given: object) => {
    isWithinSteps(schema, given, 20_000);
    maskArguments(given as Record<string, unknown>, schema);
  };
  const members = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`m${at}`, 1]));

  it.each([
    [
      'patterns for each of many names',
      (count: () => object) => {
        const patterns = Array.from({ length: 2_000 }, (_, at) => [`p${at}`, { type: 'string' }]);
        const counted = new Proxy(Object.fromEntries(patterns), {
          get: (...at) => count() && Reflect.get(...at),
        });
        return { type: 'object', patternProperties: counted };
      },
    ],
    [
      'a reference of many names, for each of many values',
      (count: () => object) => {
        const circle: object = Object.defineProperty({}, 'a', {
          enumerable: true,
          get: () => count() && circle,
        });
        return {
          type: 'object',
          additionalProperties: { $ref: `#/$defs${'/a'.repeat(5_000)}` },
          $defs: circle,
        };
      },
    ],
  ])('is bounded: %s', (_what, schemaOf) => {
    let reads = 0;
    const schema = schemaOf(() => {
      reads += 1;
      return {};
    });
    judge(schema, members);
    expect(reads).toBeLessThan(1_000_000);
  });
});

const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]));

describe('the masks of arguments', () => {
  it('cover every value that a schema calls secret, wherever the schema says so', () => {
    const leaf = fc.constantFrom<Schema>(
      { type: 'string', format: 'password' },
      { type: 'string', writeOnly: true },
    );
    fc.assert(
      fc.property(nesting, leaf, fc.boolean(), (within, schema, isReferred) => {
        const { schema: whole, given } = nested(within, schema, 'hunter2', isReferred);
        const { arguments: shown, masked } = maskArguments(given, whole);
        expect(JSON.stringify(shown)).not.toContain('hunter2');
        expect(masked).toHaveLength(1);
      }),
    );
  });

  it.each([
    ['a name', { pwd: 'x1', cvv: 123, раssword: 'x2', senha: 'x3' }, ['/pwd', '/cvv', '/раssword', '/senha']],
    ['a header', { headers: [{ name: 'Authorization', value: 'x' }] }, ['/headers/0/value']],
    ['a variable', { env: [{ key: 'API_TOKEN', values: ['x'] }] }, ['/env/0/values/0']],
    ['a label in capitals', { env: [{ Name: 'DB_PASSWORD', Value: 'x' }] }, ['/env/0/Value']],
    ['another one', { KEY: 'Authorization', VALUE: ['x'] }, ['/VALUE/0']],
    [
      'a longer label',
      [
        { ParameterKey: 'DbPassword', ParameterValue: 'x' },
        { header_name: 'Cookie', headerValue: 'y' },
      ],
      ['/0/ParameterValue', '/1/headerValue'],
    ],
    ['a pair', { headers: [['Cookie', 'x']], at: ['Accept', 'y'] }, ['/headers/0/1']],
    ['a line', { env: ['DB_PASSWORD=x', 'A=b'], headers: ['X-Api-Key: x y'] }, ['/env/0', '/headers/0']],
    [
      'no secret',
      {
        max_tokens: 5,
        token_count: 1,
        keyboard: 'x',
        note: 'Token: x',
        tags: ['pin'],
        rows: [
          { name: 'pin', interval: 5 },
          { Username: 'pin', value: 'x' },
        ],
      },
      [],
    ],
  ])('cover what %s names', (_what, given, masked) => {
    const pointers = masked.map((pointer) => `/given${pointer}`);
    expect(maskArguments({ given }, {}).masked).toEqual(pointers);
  });

  it('follow references that lead in circles, and cover what a schema outside the document describes', () => {
    const schema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' }, other: { $ref: 'https://schemas.example/other' } },
      $defs: {
        node: {
          anyOf: [{ $ref: '#/$defs/node' }, { type: 'object' }],
          properties: {
            next: { $ref: '#/$defs/node' },
            pin: { format: 'password' },
            note: { type: 'string' },
          },
        },
      },
    };
    const given = { tree: { note: 'a', next: { note: 'b', pin: '1234' } }, other: { name: 'x' }, plain: 'y' };
    expect(maskArguments(given, schema)).toEqual({
      arguments: { tree: { note: 'a', next: { note: 'b', pin: MASK } }, other: { name: MASK }, plain: 'y' },
      masked: ['/tree/next/pin', '/other/name'],
    });
  });

  it('read a bounded part of a large schema, and cover what is described by the rest', () => {
    const many = { anyOf: Array.from({ length: 199 }, () => ({ type: 'number' })) };
    const numbers = Array.from({ length: 5_000 }, (_, at) => at);
    const plain = { type: 'object', properties: { numbers: { items: { type: 'number' } } } };
    expect(maskArguments({ numbers }, plain).masked).toEqual([]);
    const { masked } = maskArguments(
      { numbers },
      { type: 'object', properties: { numbers: { items: many } } },
    );
    expect(masked).not.toContain('/numbers/0');
    expect(masked).toContain('/numbers/4999');
  });

  const deep = (levels: number) => ({ a: JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`) });
  const UNSHOWN = [
    ['deep', deep(40), /nested too deeply/],
    ['deeper than any stack', deep(100_000), /nested too deeply/],
    ['many names', named(3_000), /more than 2000 names/],
    ['many bytes', { text: '€'.repeat(22_000) }, /more than 65536 bytes/],
  ] as const;

  it.each(UNSHOWN)('are of a bounded extent: %s', (_what, given, fault) => {
    expect(maskArguments(given, {})).toEqual({
      arguments: {},
      masked: [],
      fault: expect.stringMatching(fault),
    });
    const shown = { arguments: { list: [{ pin: MASK }] }, masked: ['/list/0/pin'] };
    expect(faultsOfEdit(shown, { ...given, list: [given] })).toEqual([
      { path: 'arguments', message: expect.stringMatching(fault) },
    ]);
  });

  it.each([
    ['deep', deep(31)],
    ['many names', { rows: Array.from({ length: 2_500 }, (_, at) => ({ name: `a${at}` })), ...named(1_900) }],
    ['many bytes', { text: 'x'.repeat(65_000) }],
  ])('reach to the bound: %s', (_what, given) => {
    expect(maskArguments(given, {}).fault).toBeUndefined();
  });
});

describe('an edit of a call with masked values', () => {
  const faults = (given: Schema, edited: Schema, inputSchema: Schema = {}) =>
    faultsOfEdit({ ...maskArguments(given, inputSchema), inputSchema }, edited).map(({ path }) => path);
  const users = [
    { name: 'Ada', password: 'x' },
    { name: 'Bob', password: 'y' },
  ];
  const [ada, bob] = users.map((user) => ({ ...user, password: MASK }));

  const BY_SCHEMA = { properties: { value: { type: 'string', format: 'password' } } };
  it.each<[string, Schema, Schema, Schema?]>([
    ['items of a list that change places', { users }, { users: [bob, ada] }],
    ['an item of a list that gets another name', { users }, { users: [{ ...ada, name: 'Eve' }, bob] }],
    ['an item before the others', { users }, { users: [{ name: 'Eve' }, ada, bob] }],
    ['an item that is gone', { users }, { users: [bob] }],
    ['lines that change places', { env: ['PIN=1', 'PUK=2', 'a'] }, { env: ['a', MASK, MASK] }],
    ['a value under another name', { name: 'Cookie', value: 'x' }, { name: 'Note', value: MASK }],
    ['a value under another label', { Name: 'Cookie', Value: 'x' }, { Name: 'Note', Value: MASK }],
    [
      'a value under another longer label',
      { ParameterKey: 'Cookie', ParameterValue: 'x' },
      { ParameterKey: 'Note', ParameterValue: MASK },
    ],
    [
      'a value under one more label',
      { name: 'Cookie', value: 'x' },
      { name: 'Cookie', Key: 'Note', value: MASK },
    ],
    ['a value under another number', { key: 1, value: 'x' }, { key: 2, value: MASK }, BY_SCHEMA],
    ['a value that is changed', { token: 'x' }, { token: 'y' }],
    ['a value that is gone', { token: 'x' }, {}],
    ['an object that is a list', { a: { token: 'x' } }, { a: [MASK] }],
  ])('is refused: %s', (_what, given, edited, inputSchema) => {
    expect(faults(given, edited, inputSchema)).toEqual(['arguments']);
  });

  it.each<[string, Schema, Schema]>([
    ['items of a list', { users }, { users: [{ password: MASK, name: 'Ada' }, bob, { name: 'Eve' }] }],
    ['lines', { env: ['PIN=1', 'A=b'] }, { env: [MASK, 'A=c'] }],
    [
      'a value beside its name',
      { name: 'Cookie', value: 'x', to: 'a' },
      { name: 'Cookie', value: MASK, to: 'b' },
    ],
    ['other members', { token: 'x', to: 'a' }, { token: MASK, to: 'b' }],
  ])('leaves %s as they are', (_what, given, edited) => {
    expect(faults(given, edited)).toEqual([]);
  });

  const values = Array.from({ length: 2_000 }, () => MASK);
  it.each([
    ['items of a list', '/list/0/values', (holder: Schema) => ({ list: [holder] })],
    ['names beside a value', '/values', (holder: Schema) => holder],
  ])('compares %s once, however many masked values there are', (_what, at, around) => {
    let reads = 0;
    const get = (...from: Parameters<typeof Reflect.get>): unknown => {
      reads += 1;
      return Reflect.get(...from);
    };
    const holder = { name: 'Cookie', values, ...named(100) };
    const shown = around(new Proxy<Schema>({ ...holder, values: new Proxy(values, { get }) }, { get }));
    const masked = values.map((_, item) => `${at}/${item}`);
    expect(faultsOfEdit({ arguments: shown, masked }, around(holder))).toEqual([]);
    expect(reads).toBeLessThan(50_000);
  });

  const secret = { type: 'number', format: 'password' };
  it.each<[string, (inner: Schema) => Schema]>([
    ['itself', (inner) => inner],
    ['anyOf', (inner) => ({ anyOf: [inner, { type: 'null' }] })],
    ['oneOf', (inner) => ({ oneOf: [{ type: 'boolean' }, { allOf: [inner] }] })],
  ])('is not checked at a masked value below %s, and is elsewhere', (_what, around) => {
    const properties = { 'a/b~c': secret, to: { type: 'string' } };
    const schema = { type: 'object', properties: { at: around({ type: 'object', properties }) } };
    const given = { at: { 'a/b~c': 1, to: 'a' } };
    const edited = (to: unknown) => ({ at: { 'a/b~c': MASK, to } });
    expect(faults(given, edited('b'), schema)).toEqual([]);
    if (_what !== 'oneOf with two that fit')
      expect(faults(given, edited(5), schema)[0]).toMatch(/^arguments\.at/);
  });

  it('may fit one of several alternatives that fit as it is masked', () => {
    const either = (minLength: number) => ({ properties: { token: { type: 'string', minLength } } });
    const properties = { at: { type: 'object', oneOf: [either(1), either(2)] }, to: { type: 'string' } };
    const edit = (to: unknown) =>
      faults({ at: { token: 'x' } }, { at: { token: MASK }, to }, { type: 'object', properties });
    expect(edit('b')).toEqual([]);
    expect(edit(5)).toEqual(['arguments.to']);
  });

  it('adds no secret, and leaves one that the approval shows', () => {
    expect(faults({ a: 1 }, { a: { 'b/c': { token: 'x' } } })).toEqual(['arguments.a.b/c.token']);
    const shown = { arguments: { pin: '1', to: 'a' }, masked: [], inputSchema: {} };
    expect(faultsOfEdit(shown, { pin: '1', to: 'b' })).toEqual([]);
    expect(faultsOfEdit(shown, { pin: '2', to: 'b' })).toHaveLength(1);
  });
});
