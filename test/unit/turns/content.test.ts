/** What a turn reads of the parts of a person's message. */
import { describe, expect, it } from 'vitest';
import { readTurnMessages } from '../../../services/api/src/turns/messages.ts';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('fbefbeff3f', 'hex')]);
const DATA = PNG.toString('base64');
const ADDRESS = 'https://pictures.example/cat';

const read = (...parts: readonly { readonly type: string; readonly [key: string]: unknown }[]) =>
  readTurnMessages([{ role: 'user', parts: [...parts] }]).input[0]?.content;
const file = (url: string, mediaType = '', filename?: string) => ({ type: 'file', url, mediaType, filename });

describe('a file of a message', () => {
  it.each([
    ['as usual', `data:image/png;base64,${DATA}`],
    ['without padding', `data:image/png;base64,${DATA.replaceAll('=', '')}`],
    ['in the alphabet for URLs', `data:image/png;base64,${PNG.toString('base64url')}`],
    ['in lines', `\n data:image/png;base64,${DATA.replace(/.{4}/g, '$&\r\n')}`],
    ['percent-encoded', `data:image/png;base64,${encodeURIComponent(DATA)}`],
    ['in capital letters', `DATA:Image/PNG;BASE64,${DATA}`],
    ['of a type that its bytes belie', `data:image/jpeg;base64,${DATA}`],
    ['alone', DATA],
  ])('is an image by its bytes: %s', (_, url) => {
    expect(read(file(url, 'Image/PNG'))).toEqual([{ type: 'file', mediaType: 'image/png', data: DATA }]);
  });

  it.each(['data:image/png;base64,%E0%A4%A', `data:image/png;base64,${DATA}===`, `${DATA}!`, '===', ''])(
    'is left out where its content is no base64: %s',
    (url) => {
      expect(JSON.stringify(read(file(url, 'image/png')))).toMatch(/its content is no base64|no content/);
    },
  );

  it.each([
    ['in capital letters', 'Image/PNG', 'image/png'],
    ['that is taken', 'image/jpeg', 'image/jpeg'],
    ['that nobody registered', 'image/jpg', 'image/*'],
    ['that is long', `image/${'x'.repeat(10_000)}`, 'image/*'],
    ['of two lines', 'image/png\r\nX: y', 'image/*'],
    ['that is missing', '', 'image/*'],
  ])('has one of the known types at its address: for one %s', (_, mediaType, known) => {
    expect(read(file(ADDRESS, mediaType))).toEqual([{ type: 'file', mediaType: known, data: ADDRESS }]);
  });

  it.each([
    ['a usual one', 'photo.png', '`photo.png` was'],
    [
      'a link',
      '![x](https://evil.example/?q=1) \u202egpj.exe',
      '`![x](https://evil.example/?q=1) [U+202E]gpj.exe` was',
    ],
    ['code', 'a`b``c\n# d', "`a'b''c # d` was"],
    ['a long one', '🙂'.repeat(500), `\`${'🙂'.repeat(120)}\` was`],
    ['a hidden one', '\u202e'.repeat(500), `\`${'[U+202E]'.repeat(15)}\` was`],
    ['a blank', ' \n ', 'A file was'],
  ])('is named so that its name can be nothing else: %s', (_, filename, named) => {
    expect(JSON.stringify(read(file('data:,', 'text/plain', filename)))).toContain(named);
  });
});

describe('the parts of a message', () => {
  it('are at most a hundred', () => {
    expect(() => read(...Array<{ type: string }>(101).fill({ type: 'x' }))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('are named up to a number, the others are counted', () => {
    const content = JSON.stringify(read({ type: 'text', text: 'Look' }, ...Array(99).fill({ type: 'x' })));
    expect(content.length).toBeLessThan(1_000);
    expect(content).toContain('94 more were left out.');
  });
});
