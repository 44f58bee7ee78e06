import { elicitationKey } from '@parley/shared/redis/client/keys';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Reply } from '../../harness/attacks/call.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  MISSING_ID,
  newPerson,
  type Person,
  POST_ASK,
  SECRET,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const FIELDS = [
  ...['message', 'title', 'description', 'schema', 'default', 'url', 'context', 'idempotency', 'answer'],
  ...['response', 'refused', 'token', 'claim', 'key', 'query', 'path', 'header', 'event', 'body', 'fault'],
] as const;
const MARKS = Object.fromEntries(FIELDS.map((name) => [name, canary(name)])) as Record<
  (typeof FIELDS)[number],
  string
>;

/** What must turn up nowhere but with those it is for: every mark, and what the pods were started with. */
const SECRETS = {
  ...MARKS,
  'jwt secret': SECRET,
  'acme key': SERVICE_KEYS.acme,
  'globex key': SERVICE_KEYS.globex,
};

export function secretAttacks(world: () => World): void {
  describe('S19 secrets', () => {
    let owner: Person;
    let stranger: Person;
    const toOthers: string[] = [];

    const others = async (reply: Promise<Reply>): Promise<Reply> => {
      const { text } = await reply;
      toOthers.push(text);
      return reply;
    };

    beforeAll(async () => {
      stranger = await newPerson();
      const userId = (await newPerson()).userId;
      const claims = { email: MARKS.claim };
      owner = {
        tenant: 'acme',
        userId,
        token: await userToken({ secret: SECRET, userId, tenant: 'acme', claims }),
      };
    });

    const askForm = (more: object = {}) =>
      world().call({
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        headers: { 'idempotency-key': MARKS.idempotency },
        body: {
          userId: owner.userId,
          mode: 'form',
          message: MARKS.message,
          title: MARKS.title,
          description: MARKS.description,
          requestedSchema: {
            type: 'object',
            title: MARKS.schema,
            properties: { pin: { type: 'string', title: MARKS.schema, description: MARKS.schema } },
            required: ['pin'],
          },
          onUnavailable: { content: { pin: MARKS.default } },
          context: { trigger: 'approval', extra: { note: MARKS.context } },
          sensitive: true,
          timeoutSeconds: 600,
          ...more,
        },
      });

    it('are sent to every endpoint, valid and invalid', async () => {
      const form = (await askForm()).json as { elicitationId: string };
      const { elicitationId, streamRequestId } = await world().ask(owner, {
        ...{ mode: 'url', requestedSchema: undefined, message: MARKS.message },
        url: `https://example.com/${MARKS.url}?code=${MARKS.url}`,
      });
      expectProblem(await askForm({ message: `${MARKS.message}!` }), 409, 'idempotency_mismatch');
      expectProblem(await askForm({ mode: MARKS.fault, [MARKS.fault]: MARKS.fault }), 400, 'invalid_request');

      const wrong = { action: 'accept', content: { pin: MARKS.refused, [MARKS.refused]: MARKS.refused } };
      expectProblem(await world().answer(owner, form.elicitationId, wrong), 422, 'invalid_answer');
      const right = { action: 'accept', content: { pin: MARKS.answer }, responseId: MARKS.response };
      expectProblem(await others(world().answer(stranger, form.elicitationId, right)), 404, 'not_found');
      expect((await world().answer(owner, form.elicitationId, right)).status).toBe(200);
      const other = { action: 'accept', content: { pin: 'other' } };
      expectProblem(await world().answer(owner, form.elicitationId, other), 409, 'already_settled');
      for (const id of [form.elicitationId, elicitationId]) {
        const path = `/v1/elicitations/${id}`;
        expectProblem(await others(world().call({ path, token: stranger.token })), 404, 'not_found');
        await others(world().call({ path: `${path}/wait`, token: SERVICE_KEYS.globex }));
        await others(world().call({ method: 'DELETE', path, token: SERVICE_KEYS.globex }));
      }
      const stolen = {
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        body: { ...QUESTION, userId: stranger.userId, streamRequestId },
      };
      await others(world().call(stolen));
    });

    it('are sent where they do not belong', async () => {
      const badToken = await userToken({ secret: MARKS.key, userId: MARKS.token });
      const headers = {
        'last-event-id': MARKS.event,
        'x-request-id': `${MARKS.header}!`,
        cookie: MARKS.header,
      };
      const tokens = [badToken, MARKS.key, `${MARKS.token}.${MARKS.token}.${MARKS.token}`, owner.token];
      const body = { action: MARKS.body, [MARKS.body]: [MARKS.body] };
      for (const token of tokens) {
        await others(world().call({ path: `/v1/elicitations/${MARKS.path}`, token, headers }));
        await others(world().call({ path: `/${MARKS.path}?token=${MARKS.query}`, token, headers }));
        await world().call({
          path: `/v1/elicitations?cursor=${MARKS.query}&${MARKS.query}=1`,
          token,
          headers,
        });
        await others(world().call({ path: `/v1/streams/${MARKS.path}/events`, token, headers }));
        for (const end of ['response', 'complete']) {
          const path = `/v1/elicitations/${MISSING_ID}/${end}`;
          await world().call({ method: 'POST', path, token, body });
          await world().call({ method: 'POST', path, token, raw: `{"${MARKS.body}":` });
        }
      }
    });

    it('never appear in an event', async () => {
      const inbox = await openStream(world().pods[1], '/v1/inbox/events', owner.token);
      await inbox.event(0);
      const { elicitationId, streamRequestId } = await world().ask(owner);
      const path = `/v1/streams/${streamRequestId}/events`;
      const stream = await openStream(world().pods[1], path, owner.token);
      // An inbox skips questions that begin and end between two polls.
      await inbox.event(1);
      const content = { name: MARKS.answer };
      await world().answer(owner, elicitationId, { action: 'accept', content, responseId: MARKS.response });
      await stream.event(1);
      await inbox.event(2);
      stream.close();
      inbox.close();
      for (const mark of [MARKS.answer, MARKS.response]) {
        expect(findCanary(mark, [stream.text(), inbox.text()])).toEqual([]);
      }
    });

    it('do not appear in reports of a damaged row or an unavailable Redis', async () => {
      const broken =
        ((await askForm({ userId: `${owner.userId}-2` })).json as { elicitation?: unknown }) ?? {};
      expect(broken).toBeDefined();
      const { elicitationId } = await world().ask(owner, { message: MARKS.message });
      await redisCommand(world().redis.url, 'DEL', elicitationKey(elicitationId));
      await redisCommand(world().redis.url, 'SET', elicitationKey(elicitationId), MARKS.message);
      const answer = { action: 'accept', content: { name: MARKS.answer } };
      const reply = await world().answer(owner, elicitationId, answer);
      expect(reply.status).toBe(500);
      expect(reply.json).toEqual({
        type: 'https://parley.dev/problems/internal',
        title: 'Internal error',
        status: 500,
        code: 'internal',
        detail: 'Something went wrong on our side; the log has the details.',
      });
      toOthers.push(reply.text);
      // Only the log of a pod contains more, under the id in the caller's reply.
      const requestId = reply.headers.get('x-request-id') ?? '?';
      const faultLines = () =>
        world().pods.flatMap(({ lines }) => lines.filter((line) => line.includes(requestId)));
      await waitUntil(() => faultLines().length > 0, { what: 'a line about the fault' });
      expect(faultLines()[0]).toContain('failed unexpectedly');

      world().redis.pause();
      try {
        for (const one of [await askForm(), await world().answer(owner, MISSING_ID, answer)]) {
          expectProblem(one, 503, 'unavailable');
          toOthers.push(one.text);
        }
      } finally {
        world().redis.resume();
      }
      for (const pod of [0, 1] as const) {
        await waitUntil(async () => (await world().call({ path: '/readyz', pod })).status === 200, {
          what: 'the pods to find Redis again',
        });
      }
    });

    it('appear in no log, no metric and no reply to another caller', async () => {
      const { pods, metricsUrls } = world();
      const metrics = await Promise.all(metricsUrls.map(async (url) => (await fetch(url)).text()));
      for (const text of metrics) expect(text).toContain('elicitation_');
      const logs = pods.flatMap(({ lines, stderr }) => [...lines, ...stderr]);
      expect(logs.join('\n')).toContain('elicitation answered');
      const found = Object.entries(SECRETS).flatMap(([name, secret]) => [
        ...findCanary(secret, logs).map(({ excerpt }) => `${name} in a log: ${excerpt}`),
        ...findCanary(secret, metrics).map(({ excerpt }) => `${name} in a metric: ${excerpt}`),
        ...findCanary(secret, toOthers).map(({ excerpt }) => `${name} shown to others: ${excerpt}`),
      ]);
      expect(found).toEqual([]);
      // Whole tokens too, whatever is in them.
      expect(logs.filter((line) => line.includes(owner.token) || line.includes(stranger.token))).toEqual([]);
    });
  });
}

const QUESTION = { mode: 'form', message: 'Hello?', requestedSchema: { type: 'object', properties: {} } };
