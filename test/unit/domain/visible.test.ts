import { visible, visibleLabels, visibleTexts } from '@parley/core/domain/visible';
import { describe, expect, it } from 'vitest';

const UNSEEN = [
  ...'\u061c\u200b\u200e\u200f\ufeff\u0085\u0080\u009f\u{e0001}\u{e0041}\u{e007f}\u2028\u2029\0\v\f\u001b\u007f',
  ...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u2060\u034f\u115f\u180e\u3164\uffa0\ufff9',
];

describe('text from outside', () => {
  it.each([...UNSEEN, '\ud83d', '\udc00'])('loses %j', (character) => {
    expect(visible(`a${character}b ${character}`)).toBe('ab ');
    expect(visible(character.repeat(3))).toBe('');
  });

  it.each([
    ...[
      'a\r\n\tb',
      'é e\u0301 Donau\u00addampfer',
      '👩‍👧 ❤️ 👩🏽‍🚀 🏳️‍🌈 🇩🇪',
      'می\u200cخواهم',
      'ක්\u200dෂ',
      '葛\u{e0100}',
      'שלום مرحبا',
    ],
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} Scotland',
  ])('keeps %j', (text) => {
    expect(visible(text)).toBe(text);
  });

  it.each([
    ['joiners outside of words', ' \u200d \u200c', '  '],
    ['a second joiner', 'a\u200d\u200db', 'ab'],
    ['a variation selector without a character', '\ufe0f \ufe0f', ' '],
    ['variation selectors that hide bytes', '😀\ufe0f\u{e0101}\u{e0102}', '😀\ufe0f'],
    ['tags behind another emoji', '😀\u{e0067}\u{e0062}\u{e0065}\u{e007f}', '😀'],
    ['tags that are no flag', '🏴\u{e0049}\u{e0020}\u{e0041}\u{e007f}', '🏴'],
  ])('loses %s', (_what, text, left) => {
    expect(visible(text)).toBe(left);
  });

  it('loses them in a whole value, or only where people read it', () => {
    const hidden = 'a\u202eb';
    const given = {
      title: hidden,
      name: hidden,
      enumNames: [hidden],
      enum: [hidden],
      default: { title: hidden },
    };
    expect(visibleTexts([given])).toEqual([
      { title: 'ab', name: 'ab', enumNames: ['ab'], enum: ['ab'], default: { title: 'ab' } },
    ]);
    expect(visibleLabels({ properties: { title: given } })).toEqual({
      properties: { title: { ...given, title: 'ab', enumNames: ['ab'] } },
    });
    const odd = JSON.parse('{"__proto__": {"title": "a\\u202eb"}, "a": [null, 1, true]}');
    expect(JSON.stringify(visibleTexts(odd))).toBe('{"__proto__":{"title":"ab"},"a":[null,1,true]}');
  });

  const SCHEMA = { title: 'a\u202eb', default: 'a\u202eb', examples: ['a\u202eb'] };
  const LEFT = { title: 'ab', default: 'a\u202eb', examples: ['ab'] };
  it.each(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])(
    'loses them in the schemas of fields that have the names of keywords, below %s',
    (map) => {
      const fields = (field: unknown) => ({
        default: field,
        enum: field,
        const: field,
        properties: field,
        title: field,
      });
      const within = (field: unknown) => ({ items: { [map]: fields({ [map]: fields(field) }) } });
      expect(visibleLabels(within(SCHEMA))).toEqual(within(LEFT));
      expect(visibleLabels({ default: within(SCHEMA) })).toEqual({ default: within(SCHEMA) });
    },
  );

  it('may be nested without a bound', () => {
    const deep = (depth: number) => JSON.parse(`${'[{"a":'.repeat(depth)}"a\\u202eb"${'}]'.repeat(depth)}`);
    expect(() => visibleLabels(visibleTexts(deep(50_000)))).not.toThrow();
  });
});
