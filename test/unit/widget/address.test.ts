import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectUrl } from '../../../clients/widget/src/address.ts';
import { sized } from '../../harness/proof-size.ts';

describe('an address', () => {
  it.each([
    ['https://example.com/a?b=c#d', 'https://', 'example.com', '/a?b=c#d', []],
    ['HTTPS://Example.COM', 'https://', 'example.com', '/', []],
    ['https://example.com:8443/a', 'https://', 'example.com', ':8443/a', ['port']],
    ['https://[2001:db8::1]:1/', 'https://', '[2001:db8::1]', ':1/', ['address', 'port']],
    ['https://0x7f.1/', 'https://', '127.0.0.1', '/', ['address']],
    ['http://example.com/', 'http://', 'example.com', '/', ['not_encrypted']],
    ['https://bank.example@evil.example/', 'https://bank.example@', 'evil.example', '/', ['user_info']],
    ['https://bank.example:x@evil.example/', 'https://bank.example:x@', 'evil.example', '/', ['user_info']],
    ['https://:x@evil.example/', 'https://:x@', 'evil.example', '/', ['user_info']],
    ['https://\u0430pple.com/', 'https://', 'xn--pple-43d.com', '/', ['punycode']],
    ['https://evil.example\\@bank.example/', 'https://', 'evil.example', '/@bank.example/', []],
    ['https://example.com/\u202egpj.exe', 'https://', 'example.com', '/%E2%80%AEgpj.exe', []],
    ['https://exam\nple.com/', 'https://', 'example.com', '/', []],
  ])('of %j is shown as it opens', (text, before, host, after, warnings) => {
    expect(inspectUrl(text)).toMatchObject({ kind: 'address', before, host, after, warnings });
  });

  it.each([
    ['', 'not_a_url'],
    ['example.com', 'not_a_url'],
    ['/auth/connect', 'not_a_url'],
    ['https://', 'not_a_url'],
    ['javascript:alert(1)', 'not_web'],
    ['java\tscript:alert(1)', 'not_web'],
    ['data:text/html,<script>alert(1)</script>', 'not_web'],
    ['blob:https://example.com/1', 'not_web'],
    ['intent://example.com/', 'not_web'],
    ['file:///etc/passwd', 'not_web'],
    [`https://example.com/${'a'.repeat(2048)}`, 'too_long'],
  ])('of %j is refused', (text, why) => {
    expect(inspectUrl(text)).toEqual({ kind: 'refused', why });
  });

  it('is in its parts exactly what opens, in printable ASCII, whatever the text', () => {
    const word = fc.constantFrom(
      ...['/', '\\', '@', ':', '.', '#', '?', '%2f', 'a', 'b.example', '\t', ' ', '[::1]', ':8', 'é'],
      '\u202e',
    );
    const text = fc.tuple(
      fc.constantFrom('https://', 'http://', 'https:', ''),
      fc.array(word, { maxLength: 7 }),
    );
    let shown = 0;
    const runs = sized(2_000);
    fc.assert(
      fc.property(
        fc.oneof(
          text.map(([start, words]) => start + words.join('')),
          fc.webUrl(),
          fc.string(),
        ),
        (url) => {
          const look = inspectUrl(url);
          if (look.kind === 'refused') return;
          shown += 1;
          const { href, before, host, after, warnings } = look;
          expect(before + host + after).toBe(href);
          expect(href).toBe(new URL(url).href);
          expect(host).toBe(new URL(href).hostname);
          expect(href).toMatch(/^[\x21-\x7e]+$/);
          expect(before.includes('@')).toBe(warnings.includes('user_info'));
          const leaves = !['localhost', '127.0.0.1', '[::1]'].includes(host);
          expect(before.startsWith('http:') && leaves).toBe(warnings.includes('not_encrypted'));
        },
      ),
      { numRuns: runs },
    );
    expect(shown).toBeGreaterThan(runs / 10);
  });
});
