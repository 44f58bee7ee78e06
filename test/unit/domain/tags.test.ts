import { Tags } from '@parley/core/domain/tags';
import { describe, expect, it } from 'vitest';

const ten = Array.from({ length: 10 }, (_, at) => `tag ${at}`);

describe('tags', () => {
  it.each<[why: string, tags: unknown, isTaken: boolean]>([
    ['ten', ten, true],
    ['none', [], true],
    ['as long as can be', ['x'.repeat(63), '\u{1f600}'.repeat(64)], true],
    ['other scripts, with joiners', ['रिपोर्ट', 'می\u200cخواهم'], true],
    ['eleven', [...ten, 'more'], false],
    ['too long', ['x'.repeat(65)], false],
    ['twice the same', ['a', 'a'], false],
    ['empty', [''], false],
    ['a blank around', [' a'], false],
    ['two lines', ['a\nb'], false],
    ['a control', ['a\u0000'], false],
    ['an override of direction', ['a\u202eb'], false],
    ['what cannot be seen', ['a\u200bb'], false],
    ['a lone surrogate', ['\ud800'], false],
    ['no text', [7], false],
  ])('%s', (_why, tags, isTaken) => {
    expect(Tags.safeParse(tags).success).toBe(isTaken);
  });
});
