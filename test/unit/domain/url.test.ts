import { faultOfUrl, warningsOfUrl } from '@parley/core/domain/url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const STRICT = { allowLoopbackHttp: false };
const DEVELOPMENT = { allowLoopbackHttp: true };

describe('a url for a person', () => {
  it.each([
    ...['https://example.com', 'https://example.com/a/b?c=d&e=%20f#g', 'https://example.com:8443/'],
    ...['https://xn--e1awd7f.example/', 'https://192.0.2.7/', 'https://[2001:db8::1]/'],
    ...['HTTPS://EXAMPLE.COM/', 'https://example.com/@ada', 'https://example.com?to=a@example.com'],
    ...['https://example.com#a@b', `https://example.com/${'a'.repeat(2048 - 20)}`],
  ])('may be %s', (url) => {
    expect(faultOfUrl(url, STRICT)).toBeUndefined();
    expect(faultOfUrl(url, DEVELOPMENT)).toBeUndefined();
  });

  it.each([
    ['no url', ''],
    ['a relative one', '/auth/connect'],
    ['a scheme-relative one', '//example.com/'],
    ['https without slashes, which a page on https takes for relative', 'https:example.com/'],
    ['https with one slash', 'https:/example.com/'],
    ['https with three slashes', 'https:///example.com/'],
    ['no host', 'https://'],
    ['a script', 'javascript:alert(1)'],
    ['a script split by a tab', 'java\tscript:alert(1)'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['a blob', 'blob:https://example.com/0-0'],
    ['mail', 'mailto:a@example.com'],
    ['a web socket', 'wss://example.com/'],
    ['plain http', 'http://example.com/'],
    ['user information', 'https://user@example.com/'],
    ['empty user information', 'https://@example.com/'],
    ['a host that is really a user', 'https://good.example@evil.example/'],
    ['a backslash for a slash', 'https://good.example\\@evil.example/'],
    ['a tab', 'https://exa\tmple.com/'],
    ['a line break', 'https://example.com/\nX: y'],
    ['a blank before', ' https://example.com/'],
    ['letters that look like others', 'https://exаmple.com/'],
    ['a right-to-left override', 'https://example.com/\u202egpj.exe'],
    ['a delete character', 'https://example.com/\u007f'],
    ['a lone surrogate', 'https://example.com/\ud800'],
    ['a bad port', 'https://example.com:99999/'],
    ['a bad address', 'https://[::1/'],
    ['2049 characters', `https://example.com/${'a'.repeat(2048 - 19)}`],
  ])('may not be %s', (_, url) => {
    expect(faultOfUrl(url, STRICT)).toMatch(/^must /);
    expect(faultOfUrl(url, DEVELOPMENT)).toMatch(/^must /);
  });

  it.each(['http://localhost/', 'http://localhost:3000/a', 'http://127.0.0.1:8080', 'http://[::1]:3000/'])(
    'may be %s in development only',
    (url) => {
      expect(faultOfUrl(url, DEVELOPMENT)).toBeUndefined();
      expect(faultOfUrl(url, STRICT)).toMatch(/https/);
    },
  );

  it.each([
    ...['http://localhost.evil.example/', 'http://evil.example/localhost'],
    ...['http://127.0.0.1.evil.example/', 'http://127.0.0.2/', 'http://0.0.0.0/'],
    ...['http://[::ffff:127.0.0.1]/', 'http://user@localhost/', 'http:localhost', 'ws://localhost/'],
  ])('is not loopback when it is %s', (url) => {
    expect(faultOfUrl(url, DEVELOPMENT)).toMatch(/^must /);
  });

  it('leads where it displays: an accepted url is https and keeps its host', () => {
    const start = fc.constantFrom('https://', 'HTTPS://', 'https:/', 'https:', 'http://', '//', '');
    const word = fc.constantFrom(
      ...['/', '\\', '@', '.', '#', '?', '%2f', 'a', 'b.example', '\t', ' ', '[::1]', ':8', ':', 'é'],
    );
    let passed = 0;
    fc.assert(
      fc.property(start, fc.array(word, { maxLength: 5 }), (scheme, words) => {
        const url = scheme + words.join('');
        if (faultOfUrl(url, STRICT) !== undefined) return;
        passed += 1;
        const shown = /^https:\/\/([^/?#]+)/i.exec(url)?.[1];
        const opened = new URL(url, 'https://page.example/dir/');
        expect(opened.protocol).toBe('https:');
        expect(opened.username + opened.password).toBe('');
        expect(shown?.toLowerCase().replace(/:$/, '')).toBe(opened.host);
      }),
      { numRuns: 5_000 },
    );
    expect(passed).toBeGreaterThan(50);
  });

  it('never makes the check throw an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (url) => void faultOfUrl(url, STRICT)));
  });
});

describe('the warnings of a url', () => {
  it.each([
    ['https://example.com/', []],
    ['https://example.com:443/', []],
    ['https://xn--e1awd7f.example/', ['punycode']],
    ['https://sub.xn--e1awd7f.example/', ['punycode']],
    ['https://\u0430pple.com/', ['punycode']],
    ['https://192.0.2.7/', ['address']],
    ['https://0x7f.1/', ['address']],
    ['https://[2001:db8::1]/', ['address']],
    ['https://example.com:8443/', ['port']],
    ['http://localhost:3000/', []],
    ['http://127.0.0.1:3000/', ['address']],
    ['http://localhost.example/', ['not_encrypted']],
    ['http://ada@[::1]/', ['address', 'user_info']],
    ['https://example.com@evil.example/', ['user_info']],
    ['https://:secret@evil.example/', ['user_info']],
    ['http://ada@192.0.2.7:8080/', ['address', 'port', 'not_encrypted', 'user_info']],
  ])('of %s', (url, warnings) => {
    expect(warningsOfUrl(new URL(url))).toEqual(warnings);
  });
});
