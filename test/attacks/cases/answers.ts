import { elicitationKey } from '@parley/shared/redis/client/keys';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf, type Reply } from '../../harness/attacks/call.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 20 },
    email: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    size: { type: 'number' },
    agreed: { type: 'boolean' },
    colour: { type: 'string', enum: ['red', 'blue'] },
    days: { type: 'array', items: { type: 'string', enum: ['mon', 'tue'] }, maxItems: 1 },
  },
  required: ['name'],
};
const good = { name: 'Ada' };

/**
 * A wrong answer and the field that the refusal must name: one of each kind. test/unit/domain/form-answer.test.ts holds every
 * rule.
 */
const BAD_ANSWERS: readonly (readonly [what: string, content: unknown, path: string])[] = [
  ['nothing', {}, 'name'],
  ['an unknown field', { ...good, extra: 1 }, 'extra'],
  ['a field of the prototype', { ...good, toString: 'x' }, 'toString'],
  ['null for a field', { ...good, age: null }, 'age'],
  ['a number as text', { ...good, age: '3' }, 'age'],
  ['2^53 + 1', { ...good, size: 9_007_199_254_740_992 }, 'size'],
  ['an object for text', { name: { toString: 'Ada' } }, 'name'],
  ['a huge text', { name: 'A'.repeat(200_000) }, 'name'],
  ['a choice of the prototype', { ...good, colour: '__proto__' }, 'colour'],
  ['a huge list', { ...good, days: new Array(20_000).fill('mon') }, 'days'],
  ['S10 an address to think about', { ...good, email: `${'a.'.repeat(50_000)}@x` }, 'email'],
];

export function answerAttacks(world: () => World): void {
  describe('answers', () => {
    let person: Person;
    let id: string;

    beforeAll(async () => {
      person = await newPerson();
      id = (await world().ask(person, { requestedSchema: FORM })).elicitationId;
    });

    const ended = async (action: string): Promise<string> => {
      const { elicitationId } = await world().ask(person);
      const body = action === 'accept' ? { action, content: good } : { action };
      expect((await world().answer(person, elicitationId, body)).status).toBe(200);
      return elicitationId;
    };

    it.each(BAD_ANSWERS)(
      'B9 %s is 422 and the refusal names the field [MCP25-65]',
      async (_what, content, path) => {
        const problem = expectProblem(
          await world().answer(person, id, { action: 'accept', content }),
          422,
          'invalid_answer',
        );
        expect(pathsOf(problem)).toContain(path);
      },
    );

    it('B10 accept without content counts as an empty one', async () => {
      expectProblem(await world().answer(person, id, { action: 'accept' }), 422, 'invalid_answer');
    });

    it.each<object>([
      ...['', 'ACCEPT', 'accept ', 'expire', 'complete', 'toString', null, 1, ['accept']].map((action) => ({
        action,
      })),
      ...[[], 'Ada', 1, null, true].map((content) => ({ content })),
      ...[{ status: 'accepted' }, { userId: 'somebody-else' }, { surface: 'slack' }],
      ...['', 'a:b', 'a'.repeat(129), 1].map((responseId) => ({ responseId })),
    ])('B10 an answer that says %j is 400', async (more) => {
      const reply = await world().answer(person, id, { action: 'accept', content: good, ...more });
      expectProblem(reply, 400, 'invalid_request');
    });

    it.each(['decline', 'cancel'])('B10 %s with content is 400, before and after the end', async (action) => {
      const over = await ended('decline');
      for (const target of [id, over]) {
        for (const content of [good, {}]) {
          const reply = await world().answer(person, target, { action, content });
          expect(expectProblem(reply, 400, 'invalid_request').detail).toContain('content');
        }
      }
    });

    it('none of these requests changed the question, and a valid answer still settles it', async () => {
      expect((await world().read(person, id)).status).toBe('pending');
      const zero = await world().call({
        method: 'POST',
        path: `/v1/elicitations/${id}/response`,
        token: person.token,
        raw: '{"action":"accept","content":{"name":"Ada","size":-0}}',
      });
      expect(zero.json).toMatchObject({ status: 'accepted', content: { ...good, size: 0 } });
    });

    describe('in url mode', () => {
      it.each(['client', 'server'])(
        'B10 accept with content is 400 (%s completion) [MCP25-30 MCP26-21]',
        async (completion) => {
          const more = { mode: 'url', url: 'https://example.com/', completion, requestedSchema: undefined };
          const { elicitationId } = await world().ask(person, more);
          for (const content of [good, {}]) {
            const reply = await world().answer(person, elicitationId, { action: 'accept', content });
            expectProblem(reply, 400, 'invalid_request');
          }
          expect((await world().read(person, elicitationId)).status).toBe('pending');
          expect((await world().answer(person, elicitationId, { action: 'accept' })).status).toBe(200);
          const after = await world().answer(person, elicitationId, { action: 'accept', content: good });
          expectProblem(after, 400, 'invalid_request');
        },
      );

      it('neither a form nor a url question that its user completes can be completed by a service', async () => {
        const form = await world().ask(person);
        const more = { mode: 'url', url: 'https://example.com/', requestedSchema: undefined };
        const page = await world().ask(person, more);
        for (const { elicitationId } of [form, page]) {
          const path = `/v1/elicitations/${elicitationId}/complete`;
          const reply = await world().call({ method: 'POST', path, token: SERVICE_KEYS.acme });
          expectProblem(reply, 400, 'invalid_request');
        }
      });
    });

    describe('at the wrong time', () => {
      const everyEnding = (target: string): Promise<readonly Reply[]> =>
        Promise.all([
          world().answer(person, target, { action: 'accept', content: { name: 'Bob' } }),
          ...['decline', 'cancel'].map((action) => world().answer(person, target, { action })),
        ]);

      it('B15 an answer to a question that does not exist yet is 404', async () => {
        for (const reply of await everyEnding(MISSING_ID)) expectProblem(reply, 404, 'not_found');
      });

      it('B15 an answer after another outcome is 409 with the current question', async () => {
        const target = await ended('accept');
        for (const reply of await everyEnding(target)) {
          const { elicitation } = expectProblem(reply, 409, 'already_settled');
          expect(elicitation).toMatchObject({ elicitationId: target, status: 'accepted', content: good });
        }
      });

      it('B15 an answer after withdrawal is 409, after the deadline 410', async () => {
        const { elicitationId: withdrawn } = await world().ask(person);
        const path = `/v1/elicitations/${withdrawn}`;
        await world().call({ method: 'DELETE', path, token: SERVICE_KEYS.acme });
        for (const reply of await everyEnding(withdrawn)) expectProblem(reply, 409, 'already_settled');

        const { elicitationId: late } = await world().ask(person, { timeoutSeconds: 1 });
        const wait = { path: `/v1/elicitations/${late}/wait?timeoutSeconds=20`, token: SERVICE_KEYS.acme };
        expect((await world().call(wait)).json).toMatchObject({ status: 'expired' });
        for (const reply of await everyEnding(late)) {
          expect(expectProblem(reply, 410, 'expired').elicitation?.status).toBe('expired');
        }
        for (const [method, end] of [
          ['DELETE', ''],
          ['POST', '/complete'],
        ] as const) {
          const call = { method, path: `/v1/elicitations/${late}${end}`, token: SERVICE_KEYS.acme };
          expectProblem(await world().call(call), 410, 'expired');
        }
      });

      it('B15 an answer after the retention is 404', async () => {
        const target = await ended('decline');
        await redisCommand(world().redis.url, 'DEL', elicitationKey(target));
        for (const reply of await everyEnding(target)) expectProblem(reply, 404, 'not_found');
      });
    });

    it('B14 the same Idempotency-Key with another body is 409 and creates no question', async () => {
      const headers = { 'idempotency-key': `key-${person.userId}` };
      const ask = (more: object, token: string = SERVICE_KEYS.acme) =>
        world().call({ ...POST_ASK, token, headers, body: { ...question(person.userId), ...more } });
      const first = await ask({});
      const again = await ask({});
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      for (const more of [{ message: 'Other?' }, { timeoutSeconds: 601 }, { sensitive: true }]) {
        expectProblem(await ask(more), 409, 'idempotency_mismatch');
      }
      // Another tenant's key is another key.
      expect((await ask({ message: 'Other?' }, SERVICE_KEYS.globex)).status).toBe(201);
    });
  });
}
