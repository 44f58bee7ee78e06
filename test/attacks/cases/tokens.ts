import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../harness/attacks/call.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SECRET,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { forgedTokens, userToken } from '../../harness/tokens.ts';

const FORGED = forgedTokens({ secret: SECRET, userId: 'ada', tenant: 'acme' });

export function tokenAttacks(world: () => World): void {
  const list = (headers: Record<string, string>, path = '/v1/elicitations') =>
    world().call({ path, headers });

  describe('S14 tokens', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    it('a valid token is accepted, so the refusals below have one cause each', async () => {
      const token = await userToken({ secret: SECRET, userId: 'ada', tenant: 'acme' });
      expect((await list({ authorization: `Bearer ${token}` })).status).toBe(200);
    });

    it.each(FORGED)('$name is 401 [MCP25-36 MCP25-62 MCP26-24 MCP26-49 SEC-01]', async ({ token }) => {
      const reply = await list({ authorization: `Bearer ${token}` });
      expectProblem(reply, 401, 'unauthenticated');
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    });

    it.each([
      ['an empty tenant', { tenant: '' }],
      ['a tenant with a slash', { tenant: 'acme/user' }],
      ['a tenant with a colon', { tenant: 'acme:x' }],
      ['a tenant that is a glob', { tenant: '*' }],
      ['a tenant that is a number', { tenant: 7 }],
      ['several tenants', { tenant: ['acme', 'globex'] }],
      ['a tenant that is null', { tenant: null }],
      ['a tenant that is too long', { tenant: 'a'.repeat(129) }],
      ['a user with a line break', { sub: 'a\nb' }],
      ['a user with a NUL', { sub: '\u0000service' }],
      ['a user with half a character', { sub: 'a\ud800' }],
      ['a user that is too long', { sub: 'a'.repeat(256) }],
      ['a user that is a number', { sub: 7 }],
      ['a user that is a list', { sub: ['ada'] }],
    ])('%s in a correctly signed token is 401', async (_what, claims) => {
      const token = await userToken({ secret: SECRET, userId: 'ada', tenant: 'acme', claims });
      expectProblem(await list({ authorization: `Bearer ${token}` }), 401, 'unauthenticated');
    });

    it('a token without a tenant belongs to the tenant "default" and no other', async () => {
      const { elicitationId } = await world().ask(person);
      const token = await userToken({ secret: SECRET, userId: person.userId });
      expect((await list({ authorization: `Bearer ${token}` })).json).toEqual({ elicitations: [] });
      const reply = await world().call({ path: `/v1/elicitations/${elicitationId}`, token });
      expectProblem(reply, 404, 'not_found');
    });

    it('anything but a bearer token in the header is 401', async () => {
      const good = person.token;
      const key = SERVICE_KEYS.acme;
      const headers: Record<string, string>[] = [
        {},
        { authorization: '' },
        { authorization: 'Bearer' },
        { authorization: 'Bearer ' },
        { authorization: good },
        { authorization: key },
        { authorization: `Basic ${Buffer.from(`acme:${key}`).toString('base64')}` },
        { authorization: `Token ${good}` },
        { authorization: `Bearer ${good} ${good}` },
        { authorization: `Bearer ${good}, Bearer ${key}` },
        { authorization: `Bearer "${good}"` },
        { authorization: `Bearer acme:${key}` },
        { authorization: `Bearer ${key.toUpperCase()}` },
        { authorization: `Bearer ${key.slice(0, -1)}` },
        { authorization: `Bearer ${key}x` },
        { authorization: `Bearer ${good}${'x'.repeat(9_000)}` },
        { cookie: `authorization=Bearer ${good}; token=${good}` },
        { 'x-api-key': key, 'x-authorization': `Bearer ${good}`, 'proxy-authorization': `Bearer ${good}` },
      ];
      for (const one of headers) {
        for (const path of ['/v1/elicitations', '/v1/inbox/events', '/v1/streams/turn-1/events']) {
          expectProblem(await list(one, path), 401, 'unauthenticated');
        }
      }
      for (const name of ['access_token', 'token', 'authorization']) {
        const path = `/v1/elicitations?${name}=${good}`;
        expectProblem(await world().call({ path }), 401, 'unauthenticated');
      }
    });

    it('an unauthenticated caller cannot find out which paths exist', async () => {
      const { elicitationId } = await world().ask(person);
      const texts = new Set<string>();
      for (const path of [
        `/v1/elicitations/${elicitationId}`,
        '/v1/elicitations/x',
        '/v1/elicitations?limit=x',
      ]) {
        texts.add((await world().call({ path, token: 'nobody' })).text);
      }
      texts.add((await world().call({ ...POST_ASK, token: 'nobody', body: question('x') })).text);
      texts.add((await world().call({ ...POST_ASK, token: 'nobody', raw: '{' })).text);
      expect(texts.size).toBe(1);
    });
  });

  // What the comparisons do is shown in constant-time.test.ts; this finds one that was written beside them.
  describe('S25 no line of the API compares a secret in a way that takes longer the more of it is right', () => {
    const folder = fileURLToPath(new URL('../../../services/api/src', import.meta.url));
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }));

    it('nothing in the API is such a line', () => {
      const found = sources.flatMap(({ name, text }) =>
        text
          .split('\n')
          .flatMap((line, index) => (comparesSecret(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [])),
      );
      expect(found).toEqual([]);
    });
  });
}

const SECRET_NAME = String.raw`\b(?:\w+\.)*(?:token|secret|apiKey|serviceKey|signature|digest|hash|csrf|password)`;
const COMPARED = new RegExp(
  String.raw`${SECRET_NAME}\s*[!=]==?(?!\s*(?:undefined|null|'')|=)|[!=]==?\s*${SECRET_NAME}\b(?!\()|\.(?:includes|indexOf|startsWith)\(\s*${SECRET_NAME}\s*\)|\.localeCompare\(${SECRET_NAME}`,
  'i',
);

/** Whether a line of code compares something that is named like a secret, other than with nothing. */
function comparesSecret(line: string): boolean {
  return COMPARED.test(line);
}
