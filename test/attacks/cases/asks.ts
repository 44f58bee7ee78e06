import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf } from '../../harness/attacks/call.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';

const WEEK = 604_800;
const BIDI = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'];

/** Ids that no caller may choose: some of each kind. test/unit/domain/ids.test.ts holds the rule. */
const BAD_IDS: readonly unknown[] = [
  // Clients and proxies remove these two from a path.
  ...['.', '..'],
  ...['', 'a/b', 'a:b', '*', '{x}', 'a\r\nPUBLISH x y', 'a%0d%0a', 'turn\u200b', 'türn'],
  ...['el_turn', 'sr_turn', MISSING_ID, 'a'.repeat(129), 'a'.repeat(100_000)],
  ...[null, 1, {}, ['a']],
];

export function askAttacks(world: () => World): void {
  describe('asks', () => {
    let person: Person;

    beforeAll(async () => {
      person = await newPerson();
    });

    const askWith = (more: object, of: Person = person) =>
      world().call({ ...POST_ASK, token: SERVICE_KEYS.acme, body: { ...question(of.userId), ...more } });

    it.each([0, -1, 1.5, WEEK + 1, 2 ** 53, '600', null, [600]])(
      'B11 timeoutSeconds %j is 400',
      async (timeoutSeconds) => {
        const problem = expectProblem(await askWith({ timeoutSeconds }), 400, 'invalid_request');
        expect(pathsOf(problem)).toContain('timeoutSeconds');
      },
    );

    it.each(BAD_IDS.map((id) => [JSON.stringify(id).slice(0, 40), id] as const))(
      'B12 an id that is %s is 400',
      async (_shown, id) => {
        for (const name of ['streamRequestId', 'conversationId']) {
          const problem = expectProblem(await askWith({ [name]: id }), 400, 'invalid_request');
          expect(pathsOf(problem)).toEqual([name]);
        }
      },
    );

    it.each([
      ['empty', ''],
      ['256 characters of two units', '🦜'.repeat(256)],
      ['huge', 'a'.repeat(200_000)],
      ['a line break', 'a\nb'],
      ['an escape', 'a\u001bb'],
      ['a C1 control', 'a\u0085b'],
      ['no text', 7],
    ])('B12 a userId that is %s is 400', async (_what, userId) => {
      expectProblem(await askWith({ userId }), 400, 'invalid_request');
      if (typeof userId !== 'string') return;
      const path = `/v1/elicitations?userId=${encodeURIComponent(userId.slice(0, 1_000))}`;
      const reply = await world().call({ path, token: SERVICE_KEYS.acme });
      expectProblem(reply, 400, 'invalid_request');
    });

    it.each(['a'.repeat(255), '🦜'.repeat(255), 'ada@example.com', '../..', '*', '\'"\\ %2F', '__proto__'])(
      'B12 a userId may be %s and identifies that user only',
      async (name) => {
        const owner = await newPerson('globex', name);
        const { elicitationId, userId } = await world().ask(owner);
        expect(userId).toBe(name);
        const mine = await world().call({ path: '/v1/elicitations', token: owner.token });
        expect(mine.json).toMatchObject({ elicitations: [{ elicitationId }] });
        expect((await world().answer(owner, elicitationId, { action: 'decline' })).status).toBe(200);
      },
    );

    it.each(['message', 'title', 'description'])(
      'B16 %s: controls and bidi controls are 400',
      async (name) => {
        for (const bad of [...BIDI, '\u0007', '\u001b', '\u007f', '\u0008']) {
          const problem = expectProblem(await askWith({ [name]: `pay 10${bad}00` }), 400, 'invalid_request');
          expect(pathsOf(problem)).toEqual([name]);
        }
      },
    );

    it.each([
      ['an empty message', { message: '' }],
      ['a message of 10,001 characters of two units', { message: '🦜'.repeat(10_001) }],
      ['a title of 201', { title: 'a'.repeat(201) }],
      ['a description of 10,001', { description: 'a'.repeat(10_001) }],
      ['9 kB of context in bytes', { context: { trigger: 'agent', more: '✓'.repeat(3 * 1024) } }],
      ['context deep as a well', { context: { trigger: 'agent', more: deep(40) } }],
      ['a trigger that is a sentence', { context: { trigger: 'Because I say so.' } }],
      ['a tool id that is too long', { context: { toolId: 'a'.repeat(257) } }],
      ['a tool name that reads backwards', { context: { toolName: 'pay \u202egpj.exe' } }],
      ['deep in the context, text that rings', { context: { more: { agent: ['pay\u0007'] } } }],
      ['deep in the context, a name that rings', { context: { more: [{ 'pay\u0007': 1 }] } }],
      ['deep in the context, text that reads backwards', { context: { more: { agent: ['\u2066x'] } } }],
      ['an unknown field', { priority: 1 }],
      ['a status', { status: 'accepted' }],
      ['a tenant', { tenant: 'globex' }],
      ['another mode', { mode: 'voice' }],
      ['a url in form mode', { url: 'https://example.com/' }],
      ['a completion in form mode', { completion: 'server' }],
      ['no schema in form mode', { requestedSchema: undefined }],
      ['a schema in url mode', { mode: 'url', url: 'https://example.com/' }],
      ['no url in url mode', { mode: 'url', requestedSchema: undefined }],
      [
        'a connect page that there is not',
        { mode: 'url', requestedSchema: undefined, context: { trigger: 'agent', toolId: 'nobody-knows' } },
      ],
      [
        'the page for secrets of agents',
        { mode: 'url', requestedSchema: undefined, context: { trigger: 'agent', toolId: 'parley:secret' } },
      ],
      ['a default answer that does not fit', { onUnavailable: { content: { name: 7 } } }],
      ['sensitive as text', { sensitive: 'yes' }],
    ])('B16 %s is 400', async (_what, more) => {
      expectProblem(await askWith(more), 400, 'invalid_request');
    });

    it('B16 a message of exactly 10,000 characters is accepted, and a body of 1 MB is 413', async () => {
      expect((await askWith({ message: '🦜'.repeat(10_000) })).status).toBe(201);
      expectProblem(await askWith({ message: 'a'.repeat(1024 * 1024) }), 413, 'too_large');
    });

    it.each([
      ...['limit=0', 'limit=101', 'limit=1e2', 'limit=1&limit=2', 'status=open', 'status='],
      ...['cursor=x', `cursor=1.${MISSING_ID}x`, 'cursor=-1.el_', 'nobody=1', '__proto__=1', 'userId[]=a'],
      ...['conversationId=a&conversationId=b', `conversationId=${'a'.repeat(129)}`],
    ])('a list of %s is 400', async (query) => {
      const path = `/v1/elicitations?${query}`;
      expectProblem(await world().call({ path, token: person.token }), 400, 'invalid_request');
    });

    it.each(['-1', '61', '1.5', 'x', '', '1e1', '99999999999'])(
      'B11 a wait of "%s" seconds is 400',
      async (seconds) => {
        const path = `/v1/elicitations/${MISSING_ID}/wait?timeoutSeconds=${seconds}`;
        expectProblem(await world().call({ path, token: SERVICE_KEYS.acme }), 400, 'invalid_request');
      },
    );

    it.each(['', 'Because.', 'a'.repeat(65), 7, null])(
      'a withdrawal because of %j is 400',
      async (reason) => {
        const reply = await world().call({
          method: 'DELETE',
          path: `/v1/elicitations/${MISSING_ID}`,
          token: SERVICE_KEYS.acme,
          body: { reason },
        });
        expectProblem(reply, 400, 'invalid_request');
      },
    );
  });
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
