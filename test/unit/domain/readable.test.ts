import { readable, readableLine } from '@parley/core/domain/readable';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../../services/api/src/pages/kit/html.ts';

const HIDDEN = [
  ...'\u061c\u200b\u200e\u200f\ufeff\u0085\u{e0001}\u{e0041}\u{e007f}',
  ...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u2060\u2028\u2029',
  ...'\u034f\u115f\u180e\u3164\uffa0\ufff9\0\v\f\u001b\u007f',
];

describe('untrusted text', () => {
  it.each(HIDDEN)('shows %j by its code point', (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    expect(readable(`a${character}b`)).toBe(`a[U+${code}]b`);
    expect(readableLine(`a${character}b`)).not.toContain(character);
  });

  it('shows a lone surrogate by its code point', () => {
    expect(readable('a\ud83db')).toBe('a[U+D83D]b');
  });

  it.each([
    'a\r\n\tb',
    'é e\u0301 Donau\u00addampfer',
    '👩‍👧 ❤️ 🇩🇪',
    'می\u200cخواهم',
    '葛\u{e0100}',
    'שלום مرحبا',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ])('keeps %j', (text) => {
    expect(readable(text)).toBe(text);
  });

  it('reads the same on a hosted page as on a card', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = readable(text).replace(/[&<>"'`]/gu, '');
        expect(html`${text}`.toString().replace(/&(?:amp|lt|gt|quot|#39|#96);/gu, '')).toBe(escaped);
      }),
    );
  });
});
