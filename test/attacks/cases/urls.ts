import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf } from '../../harness/attacks/call.ts';
import { newPerson, type Person, POST_ASK, SERVICE_KEYS, type World } from '../../harness/attacks/world.ts';

/**
 * None of these may ever be shown to a person as a page to open: some of each kind. test/unit/domain/url.test.ts holds the
 * rule, and that an accepted one leads where it displays.
 */
export const BAD_URLS: readonly string[] = [
  ...['javascript:alert(1)', ' javascript:alert(1)', 'java\tscript:alert(1)', '\ufeffjavascript:alert(1)'],
  ...['data:text/html,<script>alert(1)</script>', 'blob:https://example.com/0', 'file:///etc/passwd'],
  ...['wss://example.com/', 'http://example.com/', 'http://169.254.169.254/latest/', 'http://localhost/'],
  ...['http://127.0.0.1:8080/', 'http://[::1]/', 'http://127.1/', 'http://127.0.0.1.example.com/'],
  ...['https://user:pass@example.com/', 'https://@example.com/', 'https://good.example\\@evil.example/'],
  ...['https:/evil.example', '//evil.example', 'https://', 'https://[::1', 'https://exa\tmple.com/'],
  ...['https://example.com/\u0000', 'https://еxample.com/', 'https://example.com/\u202e'],
  ...['https://example.com:99999/', '', '/auth/connect', `https://example.com/${'a'.repeat(2_048)}`],
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

    it('every url of the corpus is refused [SEC-15 SEC-18 MCP25-53 MCP26-40 ACP-40]', async () => {
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
  });
}
