import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine } from '../../../services/api/src/turns/plain.ts';
import { createPieces } from '../../../services/api/src/turns/text.ts';
import { HOSTILE_TEXTS } from '../../harness/turns/turns.ts';

const text = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary' }));

describe('a line of JSON', () => {
  it('parses to the same value, for every value without lone surrogates', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(JSON.parse(jsonLine(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is one line to every reader, and well-formed to every parser', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.array(text)), (value) => {
        const line = jsonLine(value);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what Python's str.splitlines takes for a line break
        expect(line).not.toMatch(/[\u0000-\u001f\u0085\u2028\u2029]/);
        expect(line).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        expect(Object.values(JSON.parse(line)).flat()).toEqual(
          Object.entries(JSON.parse(line)).flatMap(([key]) =>
            Object.entries(value)
              .findLast(([name]) => name.toWellFormed() === key)?.[1]
              .map((each) => each.toWellFormed()),
          ),
        );
      }),
    );
  });

  it('omits prototype keys only', () => {
    const value = JSON.parse(
      '{"__proto__": 1, "a": [{"__proto__": 1, "b": 2}], "constructor": {"prototype": 1, "c": 3}, "prototype": 4}',
    );
    expect(jsonLine(value)).toBe('{"a":[{"b":2}],"constructor":{"c":3},"prototype":4}');
  });

  it('truncates values that are nested too deep', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    const line = jsonLine({ deep, shallow: 1 });
    expect(line).toContain('…');
    expect(line).not.toContain('bottom');
    expect(JSON.parse(line)).toMatchObject({ shallow: 1 });
  });
});

describe('pieces of text', () => {
  it('contain the whole text, however it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), text)), (appended) => {
        const pieces = createPieces();
        const seen: Record<string, string> = { a: '', b: '' };
        for (const [block, more] of appended) seen[block] += pieces.add(block, more);
        for (const [block, rest] of pieces.finishAll()) seen[block] += rest;
        for (const block of ['a', 'b']) {
          const whole = appended.flatMap(([of, more]) => (of === block ? [more] : [])).join('');
          expect(seen[block]).toBe(whole.toWellFormed());
        }
      }),
    );
  });

  it('never split a character', () => {
    const pieces = createPieces();
    expect(pieces.add('a', 'x\ud83d')).toBe('x');
    expect(pieces.add('b', '\ude00')).toBe('\ufffd');
    expect(pieces.add('a', '\ude00')).toBe('\u{1f600}');
    expect(pieces.finish('a')).toBe('');
    pieces.add('a', '\ud83d');
    expect(pieces.finish('a')).toBe('\ufffd');
  });
});
