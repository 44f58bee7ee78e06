import { beforeAll, describe, expect, it } from 'vitest';
import { expectSomeProblem, type Reply, type Request } from '../../harness/attacks/call.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const KILOBYTES = 255 * 1024;

/** `text` as often as it fits into a body. */
function full(text: string, before = '', after = ''): string {
  const room = KILOBYTES - before.length - after.length;
  return `${before}${text.repeat(Math.floor(room / text.length))}${after}`;
}

/** Bodies that are small and cost much, to a scanner that goes back, to a recursion, or to a list of faults. */
const BODIES: readonly (readonly [what: string, raw: string])[] = [
  ['escaped quotes and a lone backslash', full('\\"', '"', '\\')],
  ['escaped backslashes and a lone one', full('\\\\', '"', '\\')],
  ['an odd number of quotes', full('""', '"')],
  ['backslashes', full('\\')],
  ['strings that never end', full('"\\')],
  ['opening lists', full('[')],
  ['opening objects', full('{"a":')],
  ['a number without an end', full('1')],
  ['an exponent', full('9', '{"a":1e', '}')],
  ['blanks before a colon', full(' ', '{"a"', ':1}')],
  ['strings and blanks', full('"a"    ,', '[', '"a"]')],
  ['keys that hash alike', full('"a":1,', '{', '"b":1}')],
  ['many keys', `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
  ['many lists', full('[],', '{"content":[', '[]]}')],
];

function wide(count: number, field: unknown) {
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, field])),
  };
}

function deep(levels: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

/** Schemas that break those who compile them. */
const SCHEMAS: readonly (readonly [what: string, schema: unknown])[] = [
  ['10,000 fields', wide(10_000, {})],
  [
    '50 fields of 200 choices',
    wide(50, { type: 'string', enum: Array.from({ length: 200 }, (_, n) => `${n}`) }),
  ],
  ['10,000 required names', { ...wide(1, { type: 'string' }), required: new Array(10_000).fill('f0') }],
  ['30 levels', deep(14)],
  ['a pattern that goes back', wide(50, { type: 'string', pattern: '^(a+)+$' })],
];

const FORMATS = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    uri: { type: 'string', format: 'uri' },
    date: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'date-time' },
  },
};

export function bombAttacks(world: () => World): void {
  describe('S9 S10 bombs', () => {
    let person: Person;
    let id: string;

    beforeAll(async () => {
      person = await newPerson();
      id = (await world().ask(person, { requestedSchema: FORMATS })).elicitationId;
    });

    /** Sends, and asks the same pod in the meantime whether it is alive. */
    const whileAlive = async (request: Request): Promise<Reply> => {
      const [reply, alive] = await Promise.all([world().call(request), world().call({ path: '/healthz' })]);
      expect(alive.status).toBe(200);
      return reply;
    };

    it.each(BODIES)('S9 %s is 400, and the pod still answers other requests', async (_what, raw) => {
      const answer = { method: 'POST', path: `/v1/elicitations/${id}/response`, token: person.token };
      const ask = { ...POST_ASK, token: SERVICE_KEYS.acme };
      for (const request of [answer, ask]) {
        const reply = await whileAlive({ ...request, raw });
        expect(expectSomeProblem(reply).status).toBe(400);
        expect(reply.text.length).toBeLessThan(20_000);
      }
    });

    it.each(SCHEMAS)(
      'S9 a schema of %s is 400, and the pod still answers other requests',
      async (_what, requestedSchema) => {
        const body = { ...question(person.userId), requestedSchema };
        const reply = await whileAlive({ ...POST_ASK, token: SERVICE_KEYS.acme, body });
        expect(expectSomeProblem(reply).status).toBe(400);
        expect(reply.text.length).toBeLessThan(20_000);
      },
    );

    it.each([
      ['email', `${'a.'.repeat(4_000)}@a`],
      ['email', `a@${'a-'.repeat(4_000)}`],
      ['email', `${'a'.repeat(63)}@${'a.'.repeat(95)}`],
      ['uri', `https://${'a.'.repeat(4_900)} `],
      ['uri', `${'a'.repeat(9_000)}`],
      ['uri', `https://[${':'.repeat(9_000)}`],
      ['date', `${'1'.repeat(9_000)}-01-01`],
      ['time', `2026-01-01T00:00:00.${'1'.repeat(9_000)}`],
      ['time', `2026-01-01T00:00:00.${'1'.repeat(9_000)}x`],
    ])(
      'S10 an answer crafted for slow matching, as %s, is 422, and the pod still answers other requests',
      async (name, text) => {
        const body = { action: 'accept', content: { [name]: text } };
        const path = `/v1/elicitations/${id}/response`;
        const reply = await whileAlive({ method: 'POST', path, token: person.token, body });
        expect(expectSomeProblem(reply).status).toBe(422);
      },
    );

    it('S10 a path, header or query crafted for slow matching is refused, and the pod still answers other requests', async () => {
      const long = 'a'.repeat(8_000);
      const requests: readonly Request[] = [
        { path: `/v1/elicitations/${'%2e'.repeat(2_000)}` },
        { path: `/v1/elicitations/${'/'.repeat(8_000)}` },
        { path: `/${'v1/'.repeat(2_000)}` },
        { path: `/v1/elicitations?${'limit=1&'.repeat(1_000)}`, token: SERVICE_KEYS.acme },
        { path: `/v1/elicitations?${'&'.repeat(8_000)}=`, token: SERVICE_KEYS.acme },
        { path: `/v1/elicitations?status=${'pending,'.repeat(1_000)}`, token: person.token },
        { path: '/v1/elicitations', headers: { authorization: `Bearer${' '.repeat(8_000)}` } },
        { path: '/v1/elicitations', headers: { authorization: `Bearer ${long}` } },
        { path: '/v1/elicitations', headers: { authorization: `Bearer ${'.'.repeat(8_000)}` } },
        {
          ...POST_ASK,
          token: SERVICE_KEYS.acme,
          body: {},
          headers: { 'content-type': `application/${long}` },
        },
        { ...POST_ASK, token: SERVICE_KEYS.acme, body: {}, headers: { 'idempotency-key': long } },
        { path: '/healthz/x', headers: { 'x-request-id': long } },
      ];
      for (const request of requests) {
        expect(expectSomeProblem(await whileAlive(request)).status).toBeLessThan(500);
      }
    });
  });
}
