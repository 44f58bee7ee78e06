import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, expectSomeProblem, type Request } from '../../harness/attacks/call.ts';
import { chunk, exchange, head, onlyReply, repliesIn } from '../../harness/attacks/raw.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const BODY_MAX = 262_144;

/** An answer that would be taken, but for the bytes of the name. */
const NAMED = '{"action":"accept","content":{"name":"';

/** Faults of the text of a body: none of it may reach a handler. */
const BAD_BODIES: readonly (readonly [what: string, raw: string | Uint8Array<ArrayBuffer>])[] = [
  ['B2 an empty object with a comma', '{,}'],
  ['B2 cut off in the middle', '{"action":"acc'],
  ['B2 a trailing comma', '{"action":"accept",}'],
  ['B2 a comment', '{"action":"accept"/* yes */}'],
  ['B2 single quotes', "{'action':'accept'}"],
  ['B2 two documents', '{"action":"accept"}{"action":"decline"}'],
  ['B2 null', 'null'],
  ['B2 a list', '[{"action":"accept"}]'],
  ['B2 a string', '"accept"'],
  ['B2 a number', '1'],
  ['B2 NaN', '{"action":"accept","content":{"age":NaN}}'],
  ['B2 blanks only', ' \n\t '],
  ['B2 a line break in a string', '{"action":"acc\nept"}'],
  ['B2 a raw NUL', '{"action":"accept\u0000"}'],
  ['B2 an escaped NUL', '{"action":"accept","content":{"name":"a\\u0000b"}}'],
  ['B2 an escaped NUL in a key', '{"action":"accept","content":{"na\\u0000me":"b"}}'],
  ['B2 an escaped lone surrogate', '{"action":"accept","content":{"name":"\\ud800"}}'],
  ['B2 surrogates the wrong way round', '{"action":"accept","content":{"name":"\\udc00\\ud800"}}'],
  ['B2 a lone surrogate in a key', '{"action":"accept","content":{"\\udfff":"x"}}'],
  ['B2 invalid UTF-8', bytes(NAMED, [0xff, 0xfe], '"}}')],
  ['B2 overlong UTF-8', bytes(NAMED, [0xc0, 0xaf], '"}}')],
  ['B2 a surrogate in UTF-8', bytes(NAMED, [0xed, 0xa0, 0x80], '"}}')],
  ['B2 UTF-16', bytes('', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], '')],
  ['B3 ten thousand lists', `{"content":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['B3 ten thousand objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ['B3 ten thousand lists that never close', '['.repeat(10_000)],
  ['B4 an action twice', '{"action":"decline","action":"accept"}'],
  ['B4 an action twice, once escaped', '{"action":"decline","\\u0061ction":"accept"}'],
  ['B4 a field twice', '{"action":"accept","content":{"name":"a","name":"b"}}'],
  ['B5 __proto__', '{"action":"accept","__proto__":{"admin":true}}'],
  ['B5 __proto__, escaped', '{"action":"accept","\\u005f_proto__":{"admin":true}}'],
  ['B5 __proto__ as a field', '{"action":"accept","content":{"__proto__":{"name":"a"}}}'],
  ['B9 1e400', '{"action":"accept","content":{"age":1e400}}'],
  ['B9 -1e400', '{"action":"accept","content":{"age":-1e400}}'],
];

function bytes(before: string, middle: readonly number[], after: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...Buffer.from(before), ...middle, ...Buffer.from(after)]);
}

const BAD_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonx',
  'application/xml',
  'json',
  '',
];

export function bodyAttacks(world: () => World): void {
  describe('bodies', () => {
    let person: Person;
    let id: string;
    /** Every call that takes a body, with valid credentials. */
    let calls: Record<string, Request>;

    beforeAll(async () => {
      person = await newPerson();
      id = (await world().ask(person)).elicitationId;
      const service = SERVICE_KEYS.acme;
      calls = {
        ask: { ...POST_ASK, token: service },
        answer: { method: 'POST', path: `/v1/elicitations/${id}/response`, token: person.token },
        'answer from a chat': {
          method: 'POST',
          path: '/run/api/elicitation-responses',
          token: person.token,
        },
        withdraw: { method: 'DELETE', path: `/v1/elicitations/${id}`, token: service },
      };
    });

    it.each(BAD_BODIES)('%s is 400 on every call that takes a body', async (_what, raw) => {
      for (const [name, request] of Object.entries(calls)) {
        const reply = await world().call({ ...request, raw });
        expect(reply.status, `${name}: ${reply.text}`).toBe(400);
        expectProblem(reply, 400, 'invalid_request');
      }
    });

    it('B2 a missing body is 400 where one is required', async () => {
      for (const name of ['ask', 'answer', 'answer from a chat']) {
        expectProblem(await world().call({ path: '', ...calls[name] }), 400, 'invalid_request');
      }
    });

    it.each(BAD_TYPES)('B13 content type "%s" is 400', async (type) => {
      for (const request of Object.values(calls)) {
        const headers = { 'content-type': type };
        const reply = await world().call({ ...request, body: { action: 'decline' }, headers });
        expect(expectProblem(reply, 400, 'invalid_request').detail).toContain('application/json');
      }
    });

    it('B13 a compressed body is 400', async () => {
      const raw = bytes('', [0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00], '');
      const headers = { 'content-encoding': 'gzip' };
      for (const request of Object.values(calls)) {
        expectProblem(await world().call({ ...request, raw, headers }), 400, 'invalid_request');
      }
    });

    it('none of these requests changed the question', async () => {
      expect((await world().read(person, id)).status).toBe('pending');
    });

    it('B1 a body of exactly the limit is read, one byte more is 413', async () => {
      const text = JSON.stringify(question(person.userId));
      const fits = text + ' '.repeat(BODY_MAX - text.length);
      const ask = { ...POST_ASK, token: SERVICE_KEYS.acme };
      expect((await world().call({ ...ask, raw: fits })).status).toBe(201);
      const reply = onlyReply(
        await sendRaw(world(), { 'content-length': String(BODY_MAX + 1) }, [`${fits} `]),
      );
      expectProblem(reply, 413, 'too_large');
    });

    it('B1 a length beyond the limit is 413 before the body is sent', async () => {
      const text = await sendRaw(world(), { 'content-length': '99999999999' }, []);
      expectProblem(onlyReply(text), 413, 'too_large');
    });

    it('B1 a chunked body without a length is 413, and one without an end is cut off', async () => {
      const part = chunk(' '.repeat(16_384));
      const parts = [...new Array<string>(20).fill(part), '0\r\n\r\n'];
      const headers = { 'transfer-encoding': 'chunked' };
      expectProblem(onlyReply(await sendRaw(world(), headers, parts)), 413, 'too_large');
      expectProblem(onlyReply(await sendRaw(world(), headers, forEver(part))), 413, 'too_large');
    });

    it('B1 a large body without credentials is refused before it is read', async () => {
      const headers = { 'transfer-encoding': 'chunked', authorization: 'Bearer nobody' };
      const text = await sendRaw(world(), headers, forEver(chunk(' '.repeat(16_384))));
      expectProblem(onlyReply(text), 401, 'unauthenticated');
    });

    it('B1 a client that sends its whole body before it reads still receives the refusal', async () => {
      const raw = ' '.repeat(4 * 1024 * 1024);
      for (const [path, token] of [
        ['/v1/elicitations', 'nobody'],
        ['/v1/elicitations', person.token],
        ['/v1/elicitations', SERVICE_KEYS.acme],
      ] as const) {
        const reply = await world().call({ method: 'POST', path, token, raw });
        expect([401, 403, 413]).toContain(reply.status);
        expectSomeProblem(reply);
      }
    });

    it('B1 a body shorter than its declared length gets no answer and breaks nothing', async () => {
      const text = await exchange({
        port: world().pods[0].port,
        send: [askHead({ 'content-length': '500' }), '{"userId":'],
        halfClose: true,
      });
      // The caller has disconnected; a reply, if there is one, is a refusal.
      for (const reply of repliesIn(text)) expectProblem(reply, 400, 'invalid_request');
      expect((await world().call({ path: '/healthz' })).status).toBe(200);
    });
  });
}

function* forEver(part: string): Generator<string> {
  for (;;) yield part;
}

function askHead(headers: Readonly<Record<string, string>>): string {
  return head('POST /v1/elicitations', {
    authorization: `Bearer ${SERVICE_KEYS.acme}`,
    'content-type': 'application/json',
    ...headers,
  });
}

function sendRaw(
  world: World,
  headers: Readonly<Record<string, string>>,
  parts: Iterable<string>,
): Promise<string> {
  const send = function* () {
    yield askHead(headers);
    yield* parts;
  };
  return exchange({ port: world.pods[0].port, send: send() });
}
