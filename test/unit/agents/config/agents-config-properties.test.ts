import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { AgentsConfigError } from '../../../../services/api/src/agents/config/fault.ts';
import { readAgentsConfig } from '../../../../services/api/src/agents/config/load.ts';
import { nearest } from '../../../../services/api/src/agents/config/nearest.ts';
import { sized } from '../../../harness/proof-size.ts';

const EXAMPLE = readFileSync(new URL('fixtures/example.yaml', import.meta.url), 'utf8');
const ENV = { MODELS_API_KEY: 'k', DOCS_AUTHORIZATION: 'k', TRACKER_CLIENT_SECRET: 'k' };

/** Reads a text; anything thrown but the one error, or a fault without a sensible place, fails the test. */
function read(text: string): AgentsConfigError | undefined {
  try {
    readAgentsConfig(text, 'agents.yaml', ENV);
    return undefined;
  } catch (error) {
    if (!(error instanceof AgentsConfigError)) throw error;
    const lines = text.split(/\r\n|\r|\n/);
    expect(error.faults.length).toBeGreaterThan(0);
    // One assertion for all: thousands of texts are read.
    const misplaced = error.faults.filter(({ line, column = 0, message }) => {
      const isPlaced = line === undefined || (line >= 1 && line <= lines.length && column >= 1);
      return message === '' || !isPlaced;
    });
    expect(misplaced).toEqual([]);
    // One line per fault, whatever the keys of the file hold.
    expect(error.message.split(/[\r\n\u2028\u2029]/)).toHaveLength(error.faults.length + 1);
    return error;
  }
}

it('reads any text without an error of another kind', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void read(text)),
    { numRuns: sized(500) },
  );
  const yamlish = fc
    .array(
      fc.constantFrom(
        ...['a', 'models', ':', ' ', '\n', '\t', '- ', '[', ']', '{', '}', '"', "'", '|', '>', '&', '*'],
        ...['!', '%', '?', '---', '#', ',', '<<', '~', '1', '__proto__', '\\'],
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(yamlish, (text) => void read(text)),
    { numRuns: sized(2_000, 200) },
  );
});

it('reads any values in place of those of a valid file', () => {
  const lines = EXAMPLE.split('\n');
  const places = fc.nat(lines.length - 1);
  const slips = fc.oneof(fc.json({ maxDepth: 3 }), fc.string({ maxLength: 20 }));
  fc.assert(
    fc.property(places, slips, (index, slip) => {
      const slipped = lines.with(
        index,
        (lines[index] ?? '').replace(/[^ :]+$/, () => slip),
      );
      read(slipped.join('\n'));
    }),
    { numRuns: sized(1_000, 80) },
  );
});

it('reads any tree in the shape of a file', () => {
  const key = fc.oneof(
    fc.constantFrom(
      ...['models', 'agents', 'mcpServers', 'connectors', 'constructor'],
      ...['title', 'model', 'tools', 'limits', 'header'],
    ),
    fc.string({ maxLength: 8 }),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), tie('map'), fc.array(tie('tree'), { maxLength: 3 })),
    map: fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    leaf: fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.double(),
      fc.string({ maxLength: 8 }),
      fc.constant('user'),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, tree as fc.Arbitrary<unknown>), (value) => void read(stringify(value))),
    { numRuns: sized(500) },
  );
});

it('never repeats a value of the file that could be a secret', () => {
  const lines = EXAMPLE.split('\n').flatMap((line, index) => (/: \S/.test(line) ? [index] : []));
  const secret = fc
    .string({ unit: fc.constantFrom(...'abcxyzABCXYZ0189_-.~+/=$:# '), minLength: 12, maxLength: 40 })
    .map((text) => `Zq${text}qZ`);
  fc.assert(
    fc.property(fc.constantFrom(...lines), secret, fc.constantFrom('', '"', "'"), (index, text, quote) => {
      const all = EXAMPLE.split('\n');
      const planted = all.with(
        index,
        (all[index] ?? '').replace(/: .*$/, () => `: ${quote}${text}${quote}`),
      );
      expect(read(planted.join('\n'))?.message ?? '').not.toContain(text);
    }),
    { numRuns: sized(1_000, 80) },
  );
});

it('handles input that is known to break parsers', () => {
  const fill = (unit: string) => unit.repeat(Math.floor(30_000 / unit.length));
  const units = [
    ...['[', '{a: ', '- ', '? ', '-\t', '? a: ', '- [', '- !a ', '&a ', '\t', 'a:'],
    'eyJaaaaaaaaaa-',
  ];
  for (const unit of units) expect(read(fill(unit)), unit).toBeInstanceOf(AgentsConfigError);
  const stairs = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}-`).join('\n');
  expect(read(stairs)?.message).toContain('is nested too deeply');
  expect(read(`a: &a [b]\nb: [${fill('*a,')}]`)?.message).toContain('is an alias');
});

it('suggests the word that was mistyped, and nothing for an unrelated one', () => {
  const known = ['instructions', 'title', 'model', 'apiKeyEnv'];
  expect(nearest('instuctions', known)).toBe('instructions');
  expect(nearest('modle', known)).toBe('model');
  expect(nearest('API_KEY_ENV', known)).toBe('apiKeyEnv');
  expect(nearest('prompt', known)).toBeUndefined();
  expect(nearest('a', known)).toBeUndefined();
  fc.assert(fc.property(fc.constantFrom(...known), (word) => nearest(word, known) === word));
});
