import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../harness/attacks/call.ts';
import { exchange, head, onlyReply } from '../../harness/attacks/raw.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  newPerson,
  type Person,
  SCOPED_KEYS,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';

/** As they stand in a path, where nothing has tidied them. */
const BAD_STREAMS = [
  ...['*', '?', '[a-z]*', 'a:b', '{x}', 'a}b', '%2a', '%7Bx%7D', 'a%3Ab', 'acme%2Fuser', 'acme/user/turn'],
  ...['%0d%0aPUBLISH%20parley%20x', '%0aSUBSCRIBE%20*', 'a%00b', 'a%20b', '%2e%2e%2fx', 'a%2fb', '%', '%zz'],
  ...['%u002a', '%c0%ae', '%ff', 'a%E2%80%8B', '%ef%bd%81', 'a;b', "a'b", 'a"b', 'a|b', 'a'.repeat(129)],
];

/** Names that a careless join, a glob or a normalisation would take for each other, or for something of ours. */
const NASTY_USERS = [
  ...['a', 'A', 'a:b', 'a/b', 'a%2Fb', 'a%3Ab', 'a%252Fb', '*', 'a*', '[a]', '{a}', 'a}', 'a b', 'a+b', 'á'],
  ...['a\u0301', 'ａ', 'а', 'a\u2028', '%00service', 'service', 'undefined', '../a', '__proto__', "a'--"],
];

/** What would end a field, an event or a line, if it were not written as JSON. */
const BREAKS = [
  '\n\ndata: {"status":"accepted"}\n\n',
  'x\r\rdata: 1\r\r',
  'x\r\n\r\nevent: elicitation-resolved\r\ndata: {}\r\n\r\n',
  '\nid: 1-1\nretry: 1\n: comment\n',
  'x\u2028data: 1\u2029data: 2',
  '*1\r\n$8\r\nFLUSHALL\r\n',
  "'); redis.call('FLUSHALL') --",
  '%s %n {{7*7}} \\u000a \\n \\',
];

export function injectionAttacks(world: () => World): void {
  describe('S12 S13 names', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    it('no character of a stream name has a special meaning', async () => {
      const port = world().pods[0].port;
      // One after the other: a person opens a few streams at once, and is refused beyond.
      for (const name of BAD_STREAMS)
        for (const token of [person.token, SERVICE_KEYS.acme]) {
          const query = token === person.token ? '' : `?userId=${person.userId}`;
          const target = `GET /v1/streams/${name}/events${query}`;
          const text = await exchange({ port, send: [head(target, { authorization: `Bearer ${token}` })] });
          expectProblem(onlyReply(text), 404, 'not_found');
        }
    });

    it('users with confusable names are kept apart', async () => {
      const people = await Promise.all(NASTY_USERS.map((userId) => newPerson('acme', userId)));
      const asked = await Promise.all(people.map((owner) => world().ask(owner)));
      await Promise.all(
        people.map(async (owner, index) => {
          const path = '/v1/elicitations?status=pending';
          const elicitations = [{ elicitationId: asked[index]?.elicitationId, userId: owner.userId }];
          expect((await world().call({ path, token: owner.token })).json).toMatchObject({ elicitations });
          const named = `${path}&userId=${encodeURIComponent(owner.userId)}`;
          const page = await world().call({ path: named, token: SERVICE_KEYS.acme, pod: 1 });
          expect((page.json as { elicitations: unknown[] }).elicitations).toHaveLength(1);
          const inbox = await openStream(world().pods[1], '/v1/inbox/events', owner.token);
          expect((await inbox.event(0)).data).toMatchObject({ elicitations });
          inbox.close();
        }),
      );
      // Each answers only their own.
      const ids = asked.map(({ elicitationId }) => elicitationId);
      const replies = await Promise.all(
        people.map((owner, index) =>
          world().answer(owner, ids[(index + 1) % ids.length] ?? '', { action: 'decline' }),
        ),
      );
      for (const reply of replies) expectProblem(reply, 404, 'not_found');
    });

    it("S12 a service that names another tenant's user and stream receives none of its events", async () => {
      const { streamRequestId } = await world().ask(person, { streamRequestId: `turn-${person.userId}` });
      const path = `/v1/streams/${streamRequestId}/events?userId=${person.userId}`;
      const spy = await openStream(world().pods[1], path, SERVICE_KEYS.globex);
      await world().ask(person, { streamRequestId });
      const namesake = await newPerson('globex', person.userId);
      const own = await world().ask(namesake, { streamRequestId });
      expect((await spy.event(0)).data).toMatchObject({ elicitationId: own.elicitationId });
      spy.close();
    });

    it('key and channel names are built by Parley, have a bounded length, and are never subscribed to by pattern', async () => {
      const elicitationId = 'x'.repeat(200_000);
      for (const id of [elicitationId, `${'y'.repeat(9_000)}`]) {
        const body = { conversationId: 'c', elicitationId: id, action: 'decline' };
        const call = { method: 'POST', path: '/run/api/elicitation-responses', token: person.token, body };
        expectProblem(await world().call(call), 404, 'not_found');
        expectProblem(
          await world().answer(person, id.slice(0, 9_000), { action: 'decline' }),
          404,
          'not_found',
        );
      }
      const [pod] = world().pods;
      const inbox = await openStream(pod, '/v1/inbox/events', person.token);
      const changes = await openStream(pod, '/v1/admin/events', SCOPED_KEYS.operator);
      await Promise.all([inbox.event(0), changes.event(0)]);
      const url = world().redis.url;
      const keys = (await redisCommand(url, 'KEYS', '*')) as string[];
      const channels = (await redisCommand(url, 'PUBSUB', 'CHANNELS')) as string[];
      inbox.close();
      changes.close();
      for (const kind of [':inbox:', ':changes:'])
        expect(channels.filter((name) => name.includes(kind))).not.toEqual([]);
      for (const name of [...keys, ...channels])
        expect(name).toMatch(/^parley:\{[\w.-]+\}(?::[\w.%~!'()*/-]*)+$/);
      expect(Math.max(...keys.map((name) => name.length))).toBeLessThan(4_096);
      expect(await redisCommand(url, 'PUBSUB', 'NUMPAT')).toBe(0);
    });
  });

  describe('S21 fields', () => {
    it('no text of a question ends an SSE line or event', async () => {
      const person = await newPerson('globex', `a\u2028b-${Math.random()}`);
      const streamRequestId = `turn-${Math.floor(Math.random() * 1e9)}`;
      const inbox = await openStream(world().pods[0], '/v1/inbox/events', person.token);
      await inbox.event(0);
      for (const [index, text] of BREAKS.entries()) {
        const context = { trigger: 'agent', toolName: text, [text]: [text] };
        const words = { message: text, title: text, description: text };
        const asked = await world().ask(person, { ...words, context, streamRequestId });
        // People get the text without the characters that nobody sees.
        const seen = text.replaceAll(/[\u2028\u2029]/g, '');
        const shown = { message: seen, title: seen, description: seen };
        expect(asked).toMatchObject({ ...shown, context: { toolName: seen, [text]: [seen] } });
        // An inbox skips questions that begin and end between two polls.
        await inbox.event(2 * index + 1);
        await world().answer(person, asked.elicitationId, { action: 'accept', content: { name: 'A' } });
        await inbox.event(2 * index + 2);
      }
      const stream = await openStream(world().pods[1], `/v1/streams/${streamRequestId}/events`, person.token);
      await stream.event(2 * BREAKS.length - 1);
      for (const open of [stream, inbox]) {
        open.close();
        for (const line of open.text().split(/\r\n|\r|\n/)) {
          expect(line).toMatch(/^(?:id: \d+-\d+|event: [a-z-]+|data: \{.*\}|retry: \d+|: heartbeat)?$/s);
        }
      }
      const seen = BREAKS.map((text) => text.replaceAll(/[\u2028\u2029]/g, ''));
      expect(stream.events().map(({ data }) => data.message)).toEqual(seen.flatMap((text) => [text, text]));
    });

    it('no response header contains text from the request', async () => {
      const request = { path: '/v1/elicitations', headers: { 'x-request-id': 'a b\tc"' } };
      const reply = await world().call({ ...request, token: SERVICE_KEYS.acme });
      expect(reply.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
      const named = { ...request, headers: { 'x-request-id': 'trace-1' } };
      expect((await world().call(named)).headers.get('x-request-id')).toBe('trace-1');
    });
  });
}
