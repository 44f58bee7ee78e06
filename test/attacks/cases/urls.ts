import { faultOfUrl } from '@parley/shared/domain/url';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf } from '../../harness/attacks/call.ts';
import { holds } from '../../harness/attacks/seed.ts';
import { newPerson, type Person, POST_ASK, SERVICE_KEYS, type World } from '../../harness/attacks/world.ts';

/** None of these may ever be shown to a person as a page to open. */
export const BAD_URLS: readonly string[] = [
  ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\u0001javascript:alert(1)'],
  ...['java\tscript:alert(1)', 'java\nscript:alert(1)', 'java\r\nscript:alert(1)', 'javascript\t:alert(1)'],
  ...['javascript://example.com/%0aalert(1)', 'jav&#x09;ascript:alert(1)', '\ufeffjavascript:alert(1)'],
  ...['data:text/html,<script>alert(1)</script>', 'DATA:text/html;base64,PHNjcmlwdD4=', 'vbscript:msgbox(1)'],
  ...['blob:https://example.com/0', 'filesystem:https://example.com/x', 'view-source:https://example.com'],
  ...['file:///etc/passwd', 'about:blank', 'mailto:a@example.com', 'tel:+1', 'intent://x#Intent;end'],
  ...['ftp://example.com/', 'ws://example.com/', 'wss://example.com/', 'gopher://example.com/', 'x:y'],
  ...['http://example.com/', 'HTTP://example.com/', 'http://10.0.0.1/', 'http://169.254.169.254/latest/'],
  ...['http://localhost/', 'http://127.0.0.1:8080/', 'http://[::1]/', 'http://0.0.0.0/', 'http://127.1/'],
  ...[
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://0x7f.1/',
    'http://[::ffff:127.0.0.1]/',
  ],
  ...[
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
  ],
  ...[
    'https://good.example@evil.example/',
    'https://good.example%2f@evil.example/',
    'https://a:b:c@evil.example/',
  ],
  ...[
    'https://good.example\\@evil.example/',
    'https:\\\\evil.example',
    'https:/\\evil.example',
    '\\\\evil.example',
  ],
  ...[
    'https:evil.example',
    'https:/evil.example',
    'https:///evil.example',
    'https:////evil.example',
    '//evil.example',
  ],
  ...[
    'https://',
    'https:',
    'https:///',
    'https://?x',
    'https://#x',
    'https://:443/',
    'https://[::1',
    'https://a b/',
  ],
  ...[
    'https://exa\tmple.com/',
    'https://example.com/\n',
    'https://example.com/ x',
    'https://example.com/\u0000',
  ],
  ...[
    'https://еxample.com/',
    'https://exa\u200bmple.com/',
    'https://example。com/',
    'https://example.com/\u202e',
  ],
  ...['https://example.com:99999/', 'https://example.com:x/', 'https://%zz/', 'https://exa%00mple.com/'],
  ...[
    '',
    ' ',
    'example.com',
    '/auth/connect',
    '?x',
    '#x',
    'https',
    `https://example.com/${'a'.repeat(2_048)}`,
  ],
];

export function urlAttacks(world: () => World): void {
  describe('B17 S7 urls', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    const askWith = (url: unknown) =>
      world().call({
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        body: { userId: person.userId, mode: 'url', message: 'Look at this.', url },
      });

    it('every url of the corpus is refused [SEC-15 SEC-18]', async () => {
      const asked: string[] = [];
      for (const url of BAD_URLS) {
        const reply = await askWith(url);
        if (reply.status === 201) asked.push(url);
        else expect(reply.status, url).toBe(400);
        if (reply.status === 400 && !url.includes('\u0000')) {
          expect(pathsOf(expectProblem(reply, 400, 'invalid_request'))).toEqual(['url']);
        }
      }
      expect(asked).toEqual([]);
    });

    it.each([null, 1, {}, ['https://example.com/']])('%j is refused as no url', async (url) => {
      expectProblem(await askWith(url), 400, 'invalid_request');
    });

    it.each(['https://example.com/', 'https://xn--e1awd7f.example/a?b=c#d', 'https://[2001:db8::1]:8443/'])(
      '%s is accepted unchanged',
      async (url) => {
        expect((await askWith(url)).json).toMatchObject({ url });
      },
    );

    it('in development only loopback may be http', () => {
      const allowed = BAD_URLS.filter((url) => faultOfUrl(url, { allowLoopbackHttp: true }) === undefined);
      expect(allowed).toEqual([
        ...[
          'http://localhost/',
          'http://127.0.0.1:8080/',
          'http://[::1]/',
          'http://127.1/',
          'http://0x7f.1/',
        ],
      ]);
    });

    it('every accepted url uses https and leads to the host it displays [MCP25-53 MCP26-40 ACP-40]', async () => {
      const piece = fc.constantFrom(
        ...[
          'https:',
          'http:',
          'javascript:',
          'data:',
          '/',
          '//',
          '\\',
          '@',
          ':',
          '?',
          '#',
          '%2f',
          '%00',
          '.',
        ],
        ...['example.com', 'evil.example', 'localhost', '[::1]', 'a', '\t', '\n', ' ', '\u202e', '443', 'ａ'],
      );
      const text = fc.array(piece, { minLength: 2, maxLength: 7 }).map((pieces) => pieces.join(''));
      const near = text.map((rest) => `https://example.com${rest}`);
      await holds(
        'S7 urls',
        fc.asyncProperty(fc.oneof(text, near), async (url) => {
          const reply = await askWith(url);
          if (reply.status !== 201) return void expectProblem(reply, 400, 'invalid_request');
          const shown = new URL(url);
          expect(shown.protocol).toBe('https:');
          expect(`${shown.username}${shown.password}`).toBe('');
          // The host is what stands between the slashes, as a person reads it.
          expect(url.toLowerCase().slice('https://'.length).startsWith(shown.hostname)).toBe(true);
          const { elicitationId } = reply.json as { elicitationId: string };
          await world().call({
            method: 'DELETE',
            path: `/v1/elicitations/${elicitationId}`,
            token: SERVICE_KEYS.acme,
          });
        }),
        40,
      );
    });
  });
}
