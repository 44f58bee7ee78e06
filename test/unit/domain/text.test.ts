import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { faultOfProse, faultOfUserId, lengthOf } from '@parley/core/domain/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';

const BIDI = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'];
const LONE = ['\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ude00\ud83d'];
const wellFormed = fc.string({ unit: 'binary', maxLength: 40 });

describe('a length', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['🦜', 1],
    ['👩‍👩‍👧', 5],
    ['e\u0301', 2],
    ['\ud83d', 1],
  ])('of %j is %i', (text, length) => {
    expect(lengthOf(text)).toBe(length);
  });

  it('counts code points', () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        expect(lengthOf(text)).toBe([...text].length);
      }),
    );
  });
});

describe('prose', () => {
  it.each(['\u0000', 'a\u0000b', '\u0007', '\u001b[31m', '\u000b', '\u000c', '\u007f', '\u0085'])(
    'holds no control character: %j',
    (text) => {
      expect(faultOfProse(text, 100)).toMatch(/control characters/);
    },
  );

  it.each(BIDI)('holds no bidirectional control: %j', (mark) => {
    expect(faultOfProse(`pay ${mark}gpj.exe`, 100)).toMatch(/bidirectional/);
  });

  it.each(LONE)('holds no lone surrogate: %j', (text) => {
    expect(faultOfProse(text, 100)).toMatch(/surrogate/);
  });

  it.each([
    ['a', 100],
    ['🦜', 100],
    ['a🦜', 50],
  ])('of %j may be as long as its bound in code points and no longer', (unit, times) => {
    expect(faultOfProse(unit.repeat(times), 100)).toBeUndefined();
    expect(faultOfProse(`${unit.repeat(times)}a`, 100)).toBe('must be at most 100 characters');
  });

  it('is accepted only if it is short enough, well formed and free of controls', () => {
    const risky = fc.string({
      unit: fc.constantFrom('a', '🦜', '\n', '\0', '\ud800', ...BIDI),
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.oneof(wellFormed, risky), fc.nat(30), (text, most) => {
        const passes = faultOfProse(text, most) === undefined;
        const forbidden = /[^\P{Cc}\t\n\r]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u.test(text);
        expect(passes).toBe([...text].length <= most && !forbidden);
      }),
      { numRuns: sized(2_000) },
    );
  });
});

describe('a user id', () => {
  it.each(['a', 'ada@example.com', 'auth0|5f7c', 'Zoë', '山田', ' ', '../..', '*'])('may be %j', (text) => {
    expect(faultOfUserId(text)).toBeUndefined();
    expect(UserId.safeParse(text).success).toBe(true);
  });

  it.each(['', '\u0000', 'a\n', 'a\tb', '\u0085', '\u007f', ...LONE])('may not be %j', (text) => {
    expect(faultOfUserId(text)).toMatch(/^must /);
    expect(UserId.safeParse(text).success).toBe(false);
  });

  it('is at most 255 code points long', () => {
    for (const letter of ['a', '🦜']) {
      expect(faultOfUserId(letter.repeat(255))).toBeUndefined();
      expect(faultOfUserId(letter.repeat(256))).toMatch(/255/);
    }
  });

  it('is 1 to 255 well-formed code points without controls', () => {
    const risky = fc.string({
      unit: fc.constantFrom('a', '🦜', '\n', '\0', '\u0085', '\ud800'),
      maxLength: 300,
    });
    fc.assert(
      fc.property(fc.oneof(wellFormed, risky), (text) => {
        const length = [...text].length;
        const passes = length >= 1 && length <= 255 && !/\p{Cc}|\p{Cs}/u.test(text);
        expect(faultOfUserId(text) === undefined).toBe(passes);
      }),
      { numRuns: sized(2_000) },
    );
  });
});
