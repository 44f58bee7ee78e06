import { canonicalJson } from '@parley/core/domain/json/canonical-json';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, it } from 'vitest';

it.each([
  [{ numbers: [1e30, 4.5, 2e-3, 1e-27, -0] }, '{"numbers":[1e+30,4.5,0.002,1e-27,0]}'],
  [{ string: '\u20ac$\u000f\nA\'B"\\' }, String.raw`{"string":"€$\u000f\nA'B\"\\"}`],
  [
    { '\ufb33': 1, '\u{1f600}': 2, '\u20ac': 3, ö: 4, '1': 5 },
    '{"1":5,"ö":4,"€":3,"\u{1f600}":2,"\ufb33":1}',
  ],
  [{ '9': 1, '10': [{ b: null, a: true }], none: undefined }, '{"10":[{"a":true,"b":null}],"9":1}'],
])('is as RFC 8785 has it: %o', (value, json) => {
  expect(canonicalJson(value)).toBe(json);
});

it('is what another implementation makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
});
