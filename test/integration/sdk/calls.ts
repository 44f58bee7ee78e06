import { type ParleyClient, ParleyClientError } from '@parley/sdk';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import {
  colourQuestion,
  failureOf,
  loseReplyTo,
  newUser,
  QUICK,
  recordingFetch,
  SERVICE_KEY,
  serviceAt,
  tokenOf,
  userAt,
  type World,
} from '../../harness/sdk/setup.ts';

/** Retries, lists, errors and options. */
export function callSuite(world: () => World): void {
  const url = () => world().balancer.url;
  const service = () => serviceAt(url());

  describe('an answer link', () => {
    it('leads to the page of its question on every pod, until it is revoked', async () => {
      const { elicitation } = await service().start(colourQuestion({}));
      const link = await service().createAnswerLink(elicitation.elicitationId, { expiresInSeconds: 60 });
      const { origin, pathname, hash } = new URL(link.url);
      expect(origin).toBe('https://parley.example');
      expect(hash).toMatch(/^#[\w-]{43}$/);
      expect(Date.parse(link.expiresAt)).toBeLessThanOrEqual(Date.parse(elicitation.expiresAt));
      for (const pod of world().pods) {
        const page = await fetch(`${pod.url}${pathname}`);
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Show the question')]);
      }
      await service().revokeAnswerLink(elicitation.elicitationId);
      await service().withdraw(elicitation.elicitationId);
      const late = await failureOf(service().createAnswerLink(elicitation.elicitationId));
      expect(late.code).toBe('already_settled');
    });
  });

  describe('retries', () => {
    it('send a lost answer again with the same response id', async () => {
      const { elicitation } = await service().start(colourQuestion({}));
      const { fetch, sent } = recordingFetch(loseReplyTo(({ path }) => path.endsWith('/response')));
      const answered = await userAt(url(), elicitation.userId, { fetch }).answer(elicitation.elicitationId, {
        action: 'accept',
        content: { colour: 'red' },
      });
      expect(answered).toMatchObject({ status: 'accepted', content: { colour: 'red' } });
      const [first, second] = sent.map(({ body }) => body);
      expect(first).toHaveProperty('responseId');
      expect(second).toEqual(first);
      expect(sent).toHaveLength(2);
    });

    it('end at once when Retry-After exceeds giveUpMs', async () => {
      const reply = () =>
        Promise.resolve(new Response('', { status: 429, headers: { 'retry-after': '3600' } }));
      const { fetch, sent } = recordingFetch(reply);
      const error = await failureOf(serviceAt(url(), { fetch }).get('el_1'));
      expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 3600 });
      expect(sent).toHaveLength(1);
    });

    it('end when the server stays unreachable or never replies', async () => {
      const retry = { ...QUICK, giveUpMs: 1_000, attemptMs: 50 };
      const hangs = recordingFetch(() => new Promise(() => undefined));
      expect(await failureOf(serviceAt(url(), { fetch: hangs.fetch, retry }).get('el_1'))).toMatchObject({
        code: 'unavailable',
      });
      expect(hangs.sent.length).toBeGreaterThan(1);
      // No second attempt begins in time, so that the refused connection is the fault that counts, not a time.
      const refused = { firstDelayMs: 60_000, giveUpMs: 20_000 };
      const unreachable = `http://127.0.0.1:${await freePort()}`;
      const gone = await failureOf(serviceAt(unreachable, { retry: refused }).get('el_1'));
      expect(gone).toMatchObject({ code: 'unavailable', status: undefined });
      expect(gone.cause).toBeInstanceOf(Error);
    });

    it('are not made after a final refusal', async () => {
      const { fetch, sent } = recordingFetch();
      const error = await failureOf(serviceAt(url(), { fetch }).get('el_none'));
      expect(error).toMatchObject({ code: 'not_found', status: 404 });
      expect(sent).toHaveLength(1);
    });
  });

  describe('list', () => {
    it('iterates over all pages, or reads one', async () => {
      const userId = newUser();
      const asked: string[] = [];
      for (const conversationId of ['one', 'one', 'two', 'one', 'one']) {
        const { elicitation } = await service().start(colourQuestion({ userId, conversationId }));
        asked.unshift(elicitation.elicitationId);
      }
      const user = userAt(url(), userId);
      await user.answer(asked[0] ?? '', { action: 'decline' });
      const idsOf = async (list: ReturnType<ParleyClient['list']>) => {
        const ids: string[] = [];
        for await (const { elicitationId } of list) ids.push(elicitationId);
        return ids;
      };
      expect(await idsOf(user.list({ limit: 2 }))).toEqual(asked);
      expect(await idsOf(service().list({ userId, status: ['declined', 'cancelled'] }))).toEqual([asked[0]]);
      expect(await idsOf(user.list({ conversationId: 'one', status: 'pending', limit: 1 }))).toEqual([
        asked[1],
        asked[3],
        asked[4],
      ]);
      const first = await user.list({ limit: 4 }).page();
      expect(first.elicitations).toHaveLength(4);
      expect((await user.list({ limit: 4 }).page(first.nextCursor)).elicitations).toHaveLength(1);
    });
  });

  describe('errors', () => {
    it('carry the code, the status and the problem', async () => {
      const { elicitation } = await service().start(colourQuestion({}));
      const { elicitationId: id, userId } = elicitation;
      const user = userAt(url(), userId);

      const unfit = await failureOf(user.answer(id, { action: 'accept', content: { colour: 'green' } }));
      expect(unfit).toMatchObject({ code: 'invalid_answer', status: 422 });
      expect(unfit.problem?.errors).toEqual([{ path: 'colour', message: expect.any(String) }]);

      expect(await failureOf(user.get('el_none'))).toMatchObject({ code: 'not_found' });
      expect(await failureOf(userAt(url(), newUser()).get(id))).toMatchObject({ code: 'not_found' });
      expect(await failureOf(service().answer(id, { action: 'decline' }))).toMatchObject({
        code: 'forbidden',
      });
      expect(await failureOf(user.ask(colourQuestion({})))).toMatchObject({ code: 'forbidden', status: 403 });
      expect(await failureOf(service().ask(colourQuestion({ timeoutSeconds: 0 })))).toMatchObject({
        code: 'invalid_request',
      });

      await user.answer(id, { action: 'accept', content: { colour: 'red' } });
      const settled = await failureOf(user.answer(id, { action: 'decline' }));
      expect(settled).toMatchObject({ code: 'already_settled', status: 409 });
      expect(settled.problem?.elicitation).toMatchObject({ elicitationId: id, content: { colour: 'red' } });
      expect(settled).toBeInstanceOf(ParleyClientError);
    });

    it('are thrown for an invalid id without a request', async () => {
      const { fetch, sent } = recordingFetch();
      for (const id of ['', '.', '..']) {
        expect(await failureOf(serviceAt(url(), { fetch }).get(id))).toMatchObject({ code: 'not_found' });
      }
      expect(sent).toEqual([]);
      expect(await failureOf(service().get('../../healthz?x=1#'))).toMatchObject({ code: 'not_found' });
    });

    it('are thrown for a server that is not Parley', async () => {
      const page = recordingFetch(async () => new Response('<html>'));
      expect(await failureOf(serviceAt(url(), { fetch: page.fetch }).get('el_1'))).toMatchObject({
        code: 'internal',
        status: 200,
      });
      const other = recordingFetch(async () => Response.json({ hello: 'there' }));
      expect(await failureOf(serviceAt(url(), { fetch: other.fetch }).get('el_1'))).toMatchObject({
        code: 'internal',
      });
    });

    it('never contain a token or an answer', async () => {
      const token = 'a-token-that-nobody-knows';
      const shown: string[] = [];
      const note = async (promise: Promise<unknown>) => {
        const error = await failureOf(promise);
        shown.push(`${error.stack} ${String(error.cause)} ${JSON.stringify(error)} ${Object.values(error)}`);
        return error;
      };
      const unknown = serviceAt(url(), { token });
      expect(await note(unknown.get('el_1'))).toMatchObject({ code: 'unauthenticated', status: 401 });
      const broken = serviceAt(url(), { token: `${token}\n${token}` });
      expect(await note(broken.get('el_1'))).toMatchObject({ code: 'invalid_request' });
      const away = serviceAt(`http://127.0.0.1:${await freePort()}`, { token, retry: { giveUpMs: 0 } });
      expect(await note(away.get('el_1'))).toMatchObject({ code: 'unavailable' });
      expect(() => serviceAt(`http://user:${token}@127.0.0.1`)).toThrow('without user');

      const { elicitation } = await service().start(colourQuestion({}));
      const user = userAt(url(), elicitation.userId);
      const content = { colour: 'red', note: token };
      await user.answer(elicitation.elicitationId, { action: 'accept', content });
      const settled = await note(user.answer(elicitation.elicitationId, { action: 'decline' }));
      expect(settled.problem?.elicitation?.content).toEqual(content);
      expect(shown.join('\n')).not.toContain(token);
    });
  });

  describe('options', () => {
    it('call the token function for every request', async () => {
      const userId = newUser();
      const tokens = ['expired', await tokenOf(userId)];
      const user = userAt(url(), userId, { token: async () => tokens.shift() ?? '' });
      expect(await failureOf(user.list().page())).toMatchObject({ code: 'unauthenticated' });
      expect((await user.list().page()).elicitations).toEqual([]);
      const refused = userAt(url(), userId, { token: () => Promise.reject(new Error('signed out')) });
      await expect(refused.list().page()).rejects.toThrow('signed out');
    });

    it('keep the path of the base URL', async () => {
      const { fetch, sent } = recordingFetch(async () => Response.json({ elicitations: [] }));
      await serviceAt('https://parley.example/below/', { fetch }).list().page();
      expect(sent[0]?.path).toBe('/below/v1/elicitations');
      expect(sent[0]?.headers.get('authorization')).toBe(`Bearer ${SERVICE_KEY}`);
    });
  });
}
