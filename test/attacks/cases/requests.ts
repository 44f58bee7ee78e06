import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../harness/attacks/call.ts';
import { chunk, exchange, head, onlyReply, repliesIn } from '../../harness/attacks/raw.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

/** What may be called, and how. */
const METHODS: readonly (readonly [path: string, allow: string])[] = [
  ['/v1/elicitations', 'POST, GET'],
  [`/v1/elicitations/${MISSING_ID}`, 'GET, DELETE'],
  [`/v1/elicitations/${MISSING_ID}/wait`, 'GET'],
  [`/v1/elicitations/${MISSING_ID}/response`, 'POST'],
  [`/v1/elicitations/${MISSING_ID}/complete`, 'POST'],
  ['/v1/streams/turn-1/events', 'GET'],
  ['/v1/inbox/events', 'GET'],
  ['/run/api/elicitation-responses', 'POST'],
];
const AUTH = `authorization: Bearer ${SERVICE_KEYS.acme}\r\n`;
const HOST = 'host: parley\r\nconnection: close\r\n';

/** Connections that carry no HTTP request, or two that disagree on where one ends. */
const MALFORMED: readonly (readonly [what: string, sent: string])[] = [
  ['garbage', 'hello there\r\n\r\n'],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u0000'],
  ['a NUL in a header', `GET /v1/elicitations HTTP/1.1\r\n${HOST}x: a\u0000b\r\n\r\n`],
  ['a header without a name', `GET /v1/elicitations HTTP/1.1\r\n${HOST}: x\r\n\r\n`],
  ['a blank before the colon', `POST /v1/elicitations HTTP/1.1\r\n${HOST}content-length : 2\r\n\r\n{}`],
  ['no host', 'GET /v1/elicitations HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ['two hosts', `GET /v1/elicitations HTTP/1.1\r\n${HOST}${AUTH}Host: other\r\n\r\n`],
  ['the same host twice', `GET /v1/elicitations HTTP/1.1\r\n${HOST}${AUTH}host: parley\r\n\r\n`],
  ['two hosts in HTTP/1.0', `GET /v1/elicitations HTTP/1.0\r\n${HOST}${AUTH}host: other\r\n\r\n`],
  ['another version', 'GET /v1/elicitations HTTP/3.7\r\nhost: parley\r\n\r\n'],
  ['an unknown method', `BREW /v1/elicitations HTTP/1.1\r\n${HOST}\r\n`],
  ['a blank in the path', `GET /v1/elici tations HTTP/1.1\r\n${HOST}\r\n`],
  [
    'two lengths',
    `POST /v1/elicitations HTTP/1.1\r\n${HOST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
  ],
  ['a negative length', `POST /v1/elicitations HTTP/1.1\r\n${HOST}content-length: -1\r\n\r\n{}`],
  ['a length that is no number', `POST /v1/elicitations HTTP/1.1\r\n${HOST}content-length: 0x2\r\n\r\n{}`],
  [
    'a length and chunks',
    `POST /v1/elicitations HTTP/1.1\r\n${HOST}${AUTH}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks of an unknown coding',
    `POST /v1/elicitations HTTP/1.1\r\n${HOST}transfer-encoding: chunked, rot13\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a chunk whose size is no number',
    `POST /v1/elicitations HTTP/1.1\r\n${HOST}${AUTH}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  ],
];

export function requestAttacks(world: () => World): void {
  const port = () => world().pods[0].port;

  describe('B13 requests', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    it.each(METHODS)('every other method on %s is 405 and lists the allowed ones', async (path, allow) => {
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !allow.includes(name));
      for (const method of others) {
        const reply = await world().call({ method, path, token: SERVICE_KEYS.acme });
        expectProblem(reply, 405, 'invalid_request');
        expect(reply.headers.get('allow')).toBe(allow);
      }
    });

    it('HEAD ends at once, even where GET is a stream or a wait', async () => {
      for (const [path] of METHODS) {
        const reply = await world().call({ method: 'HEAD', path, token: person.token });
        expect({ path, status: reply.status, text: reply.text }).toEqual({ path, status: 405, text: '' });
      }
      for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
        expect((await world().call({ method: 'HEAD', path })).status).toBe(200);
      }
    });

    it('an unknown path is 404', async () => {
      for (const path of ['/', '/v1', '/V1/elicitations', '//v1/elicitations', '/v1/streams/a/b/events'])
        expectProblem(await world().call({ path, token: SERVICE_KEYS.acme }), 404, 'not_found');
    });

    it.each(['text/html', 'application/xml;q=1, */*;q=0', 'x', ','.repeat(1_000)])(
      'Accept: %s changes nothing about a refusal',
      async (accept) => {
        const paths = ['/v1/inbox/events', '/v1/elicitations?limit=many', '/nowhere'];
        for (const path of paths) {
          const reply = await world().call({ path, token: SERVICE_KEYS.acme, headers: { accept } });
          expectProblem(
            reply,
            reply.status,
            reply.status === 403 ? 'forbidden' : reply.status === 400 ? 'invalid_request' : 'not_found',
          );
        }
      },
    );

    it('two Authorization headers are 401, in any order and case, even when they are equal', async () => {
      const service = `Bearer ${SERVICE_KEYS.acme}`;
      const user = `Bearer ${person.token}`;
      for (const [first, second] of [
        [service, user],
        [user, service],
        [service, service],
        [user, ''],
      ]) {
        const lines = `Authorization: ${first}\r\naUTHORIZATION: ${second}\r\n`;
        const sent = `GET /v1/elicitations HTTP/1.1\r\n${HOST}${lines}\r\n`;
        expectProblem(onlyReply(await exchange({ port: port(), send: [sent] })), 401, 'unauthenticated');
      }
    });

    it.each(MALFORMED)('%s is refused, and the connection closed', async (_what, sent) => {
      const reply = onlyReply(await exchange({ port: port(), send: [sent] }));
      expectProblem(reply, 400, 'invalid_request');
    });

    it('headers without an end are refused', async () => {
      const lines = (count: number) => `x: ${'a'.repeat(1_000)}\r\n`.repeat(count);
      const start = `GET /v1/elicitations HTTP/1.1\r\n${lines(20)}`;
      expectProblem(onlyReply(await exchange({ port: port(), send: [start] })), 431, 'too_large');
      const forEver = function* () {
        yield start;
        for (;;) yield lines(20);
      };
      for (const reply of repliesIn(await exchange({ port: port(), send: forEver() }))) {
        expectProblem(reply, 431, 'too_large');
      }
    });

    it('an unknown expectation is refused', async () => {
      const sent = head('POST /v1/elicitations', { expect: 'the-unexpected' });
      expectProblem(onlyReply(await exchange({ port: port(), send: [sent] })), 417, 'invalid_request');
    });

    it.each([
      ...['http://other.example/v1/elicitations', 'http://other.example:99999/v1/elicitations'],
      ...['http://[::1/v1/elicitations', 'http:///v1/elicitations', '//[/v1/elicitations', '*'],
    ])('the whole URL %s as the path gets an answer', async (target) => {
      for (const auth of [AUTH, '']) {
        const sent = `GET ${target} HTTP/1.1\r\n${HOST}${auth}\r\n`;
        const reply = onlyReply(await exchange({ port: port(), send: [sent] }));
        const code = { 400: 'invalid_request', 401: 'unauthenticated', 404: 'not_found' } as const;
        expectProblem(reply, reply.status, code[reply.status as 400 | 401 | 404] ?? 'internal');
      }
    });

    it('garbage after a request gets no reply of its own and does not change the first reply', async () => {
      const { userId } = person;
      const body = JSON.stringify({ ...question(userId), streamRequestId: 'pipelined' });
      const keepAlive = head('POST /v1/elicitations', {
        authorization: `Bearer ${SERVICE_KEYS.acme}`,
        'content-type': 'application/json',
        connection: 'keep-alive',
        'content-length': String(body.length),
      });
      const text = await exchange({ port: port(), send: [`${keepAlive}${body}BOO / HTTP/1.1\r\n\r\n`] });
      // The question may have been asked, so the only honest replies are "asked" and none.
      const [first] = repliesIn(text);
      expect([undefined, 201]).toContain(first?.status);
    });

    it('a body on a call that takes none is never read as another request', async () => {
      const hidden = `POST /v1/elicitations HTTP/1.1\r\nhost: parley\r\ncontent-length: 0\r\n\r\n`;
      const lengths = { 'content-length': String(hidden.length) };
      const plain = `${head('GET /healthz', { ...lengths, connection: 'keep-alive' })}${hidden}`;
      const chunked = `${head('GET /v1/elicitations', { 'transfer-encoding': 'chunked', connection: 'keep-alive' })}${chunk(hidden)}0\r\n\r\n`;
      const last = head('GET /healthz');
      for (const sent of [plain, chunked]) {
        const replies = repliesIn(await exchange({ port: port(), send: [sent, last] }));
        expect(replies.length).toBeLessThanOrEqual(2);
        expect(replies.at(-1)?.status === 200 || replies.length === 1).toBe(true);
      }
    });

    it('a header that is repeated with two values is refused', async () => {
      const body = JSON.stringify(question(person.userId));
      const twice = `Idempotency-Key: a\r\nIdempotency-Key: b\r\n`;
      const sent = `POST /v1/elicitations HTTP/1.1\r\n${HOST}${AUTH}${twice}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const reply = onlyReply(await exchange({ port: port(), send: [sent] }));
      expectProblem(reply, 400, 'invalid_request');
    });

    it.each(['', ' ', 'a b', 'ü', 'a'.repeat(256), '\t'])('Idempotency-Key "%s" is 400', async (key) => {
      const headers = { 'idempotency-key': encodeURI(key) === key ? key : 'a b' };
      const body = question(person.userId);
      const reply = await world().call({ ...POST_ASK, token: SERVICE_KEYS.acme, body, headers });
      expectProblem(reply, 400, 'invalid_request');
    });
  });

  describe('B13 Last-Event-ID', () => {
    it.each(['x', '1', '1-', '-1', '1-1-1', '0-1', '1-01', '9'.repeat(30), '1-1, 1-2', '*', '$', '>', '+'])(
      '"%s" is 400',
      async (id) => {
        const person = await newPerson();
        const { streamRequestId } = await world().ask(person);
        const path = `/v1/streams/${streamRequestId}/events`;
        const headers = { 'last-event-id': id };
        const reply = await world().call({ path, token: person.token, headers });
        expectProblem(reply, 400, 'invalid_request');
      },
    );

    it("an event id of another stream leads to a reset and the caller's own events only", async () => {
      const mine = await newPerson('acme');
      const other = await newPerson('globex', mine.userId);
      const theirs = await world().ask(other, { streamRequestId: 'the-same', message: 'not for you' });
      const own = await world().ask(mine, { streamRequestId: 'the-same' });
      const first = await openStream(world().pods[0], '/v1/streams/the-same/events', other.token);
      const theirId = (await first.event(0)).id;
      first.close();
      const headers = { 'last-event-id': String(theirId) };
      const stream = await openStream(world().pods[1], '/v1/streams/the-same/events', mine.token, headers);
      expect((await stream.event(0)).event).toBe('stream-reset');
      expect((await stream.event(1)).data).toMatchObject({ elicitationId: own.elicitationId });
      stream.close();
      expect(stream.text()).not.toContain(theirs.elicitationId);
      expect(stream.text()).not.toContain('not for you');
    });
  });
}
