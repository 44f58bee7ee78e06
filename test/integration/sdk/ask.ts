import { createElicitor, createParleyHandler, type ElicitationHandler } from '@parley/sdk/elicit';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../harness/free-port.ts';
import {
  colourQuestion,
  failureOf,
  isAsk,
  isWait,
  loseReplyTo,
  newUser,
  recordingFetch,
  type Sent,
  serviceAt,
  userAt,
  type World,
} from '../../harness/sdk/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Asking, and every way in which a question can end. */
export function askSuite(world: () => World): void {
  const url = () => world().balancer.url;
  const service = () => serviceAt(url());

  describe('ask', () => {
    it.each([
      ['decline', 'declined'],
      ['cancel', 'cancelled'],
    ] as const)('tells %s apart', async (action, status) => {
      const { elicitation, outcome } = await service().start(colourQuestion({}));
      await userAt(url(), elicitation.userId).answer(elicitation.elicitationId, { action });
      expect(await outcome).toMatchObject({ status });
      expect(await outcome).not.toHaveProperty('content');
    });

    it('takes a schema object, and returns the answer as it reads it', async () => {
      const userId = newUser();
      const asking = service().ask({
        userId,
        mode: 'form',
        message: 'Who comes?',
        requestedSchema: z.object({
          name: z.string().max(40).trim(),
          mail: z.email().optional(),
          guests: z.int().min(0).max(9).default(1),
        }),
      });
      const user = userAt(url(), userId);
      const open = await waitUntil(async () => (await user.list().page()).elicitations[0], {
        what: 'the question',
      });
      await user.answer(open.elicitationId, { action: 'accept', content: { name: ' Ada ' } });
      expect(await asking).toMatchObject({ status: 'accepted', content: { name: 'Ada', guests: 1 } });
    });

    it('names the fields of a question that is refused', async () => {
      const requestedSchema = {
        type: 'object',
        properties: { a: { type: 'string', minLength: -1 } },
      } as const;
      const refused = service().ask({ ...colourQuestion({}), requestedSchema });
      expect((await failureOf(refused)).message).toMatch(/requestedSchema\.properties\.a\.minLength: /u);
    });

    it('says that nothing is reached at an address, long before the end of its retries', async () => {
      const port = await freePort();
      const { fetch, sent } = recordingFetch();
      const asking = serviceAt(`http://127.0.0.1:${port}`, { fetch }).ask(colourQuestion({}));
      expect(await failureOf(asking)).toMatchObject({
        code: 'unavailable',
        message: `Parley cannot be reached at http://127.0.0.1:${port}.`,
      });
      // An outage is retried for 30 s, every 100 ms at the latest.
      expect(sent.length).toBeLessThan(100);
    });

    it('returns expired when nobody answers', async () => {
      expect(await service().ask(colourQuestion({ timeoutSeconds: 1 }))).toMatchObject({ status: 'expired' });
    });

    it('returns withdrawn with its reason', async () => {
      const { elicitation, outcome } = await service().start(colourQuestion({}));
      await service().withdraw(elicitation.elicitationId, 'superseded');
      expect(await outcome).toMatchObject({ status: 'withdrawn', reason: 'superseded' });
      expect((await service().withdraw(elicitation.elicitationId)).status).toBe('withdrawn');
    });

    it('accepts url questions with both completions', async () => {
      const question = {
        userId: newUser(),
        mode: 'url',
        message: 'Look.',
        url: 'https://pages.example/',
      } as const;
      const user = userAt(url(), question.userId);
      const byClient = await service().start(question);
      await user.answer(byClient.elicitation.elicitationId, { action: 'accept' });
      expect(await byClient.outcome).toMatchObject({ status: 'accepted', content: undefined });

      const byServer = await service().start({ ...question, completion: 'server' });
      const { elicitationId } = byServer.elicitation;
      expect((await user.answer(elicitationId, { action: 'accept' })).status).toBe('opened');
      expect((await service().complete(elicitationId)).status).toBe('accepted');
      expect(await byServer.outcome).toMatchObject({ status: 'accepted', content: undefined });
    });

    it('can be awaited again by its id', async () => {
      const { elicitation } = await service().start(colourQuestion({}));
      const again = serviceAt(url()).outcomeOf(elicitation.elicitationId);
      await userAt(url(), elicitation.userId).answer(elicitation.elicitationId, {
        action: 'accept',
        content: { colour: 'blue' },
      });
      expect(await again).toMatchObject({ status: 'accepted', content: { colour: 'blue' } });
      expect(await service().outcomeOf(elicitation.elicitationId)).toMatchObject({ status: 'accepted' });
    });

    it('asks once when the reply is lost', async () => {
      const { fetch, sent } = recordingFetch(loseReplyTo(isAsk));
      const { elicitation } = await serviceAt(url(), { fetch }).start(colourQuestion({}));
      const keys = sent.filter(isAsk).map(({ headers }) => headers.get('idempotency-key'));
      expect(keys).toHaveLength(2);
      expect(keys[1]).toBe(keys[0]);
      const { elicitations } = await service().list({ userId: elicitation.userId }).page();
      expect(elicitations.map(({ elicitationId }) => elicitationId)).toEqual([elicitation.elicitationId]);
    });

    it('asks once for one idempotency key, and refuses it for another question', async () => {
      const question = colourQuestion({});
      const options = { idempotencyKey: newUser() };
      const first = await service().start(question, options);
      const second = await service().start(question, options);
      expect(second.elicitation.elicitationId).toBe(first.elicitation.elicitationId);
      const other = await failureOf(service().start({ ...question, message: 'Another?' }, options));
      expect(other).toMatchObject({ code: 'idempotency_mismatch', status: 409 });
    });

    it('retries after server errors, proxy errors and rate limits', async () => {
      const replies = [
        new Response('<html>', { status: 502 }),
        new Response('{}', { status: 500 }),
        new Response('', { status: 429 }),
      ];
      const trouble = (request: Sent) => {
        const reply = isWait(request) ? replies.pop() : undefined;
        return reply && Promise.resolve(reply);
      };
      const { fetch, waits } = recordingFetch(trouble);
      const { elicitation, outcome } = await serviceAt(url(), { fetch }).start(colourQuestion({}));
      await waitUntil(() => waits() === 4, { what: 'a fourth poll' });
      await userAt(url(), elicitation.userId).answer(elicitation.elicitationId, { action: 'cancel' });
      expect(await outcome).toMatchObject({ status: 'cancelled' });
    });

    it('rejects with the reason of its signal, and withdraws nothing', async () => {
      const stop = new AbortController();
      const { elicitation, outcome } = await service().start(colourQuestion({}), { signal: stop.signal });
      stop.abort(new Error('enough'));
      await expect(outcome).rejects.toThrow('enough');
      await expect(service().ask(colourQuestion({}), { signal: stop.signal })).rejects.toThrow('enough');
      expect((await service().get(elicitation.elicitationId)).status).toBe('pending');
    });

    it('never takes an unknown status for an acceptance', async () => {
      const later = async ({ deliver }: Sent) => {
        const elicitation = await (await deliver()).json();
        return Response.json({ ...elicitation, status: 'settled-by-magic' });
      };
      const { fetch } = recordingFetch((request) => (isAsk(request) ? later(request) : undefined));
      const error = await failureOf(serviceAt(url(), { fetch }).ask(colourQuestion({})));
      expect(error).toMatchObject({ code: 'internal' });
    });

    it('a wait that is refused ends the ask of an elicitor: nobody else is asked, and the question is withdrawn', async () => {
      const refused = async () => Response.json({ code: 'unauthenticated' }, { status: 401 });
      const { fetch } = recordingFetch((request) => (isWait(request) ? refused() : undefined));
      const userId = newUser();
      let asked = 0;
      const other: ElicitationHandler = {
        name: 'other',
        canHandle: () => true,
        async handle() {
          asked += 1;
          return { action: 'decline' };
        },
      };
      const parley = createParleyHandler({ client: serviceAt(url(), { fetch }), userId });
      const asking = createElicitor({ handlers: [parley, other] }).ask({
        kind: 'confirmation',
        message: 'Sure?',
      });
      await expect(asking).rejects.toMatchObject({
        code: 'question_lost',
        cause: { code: 'unauthenticated' },
      });
      expect(asked).toBe(0);
      for await (const { status } of userAt(url(), userId).list()) expect(status).toBe('withdrawn');
    });
  });
}
