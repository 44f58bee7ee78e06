import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { ErrorCode } from '@parley/core/domain/errors';
import { readEnv } from '@parley/shared/config/env';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, expectProblem, type Reply, type Request } from '../../harness/attacks/call.ts';
import { exchange, head, repliesIn } from '../../harness/attacks/raw.ts';
import {
  MISSING_ID,
  newPerson,
  POD_ENV,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { freePort } from '../../harness/free-port.ts';
import { type Pod, startPod } from '../../harness/processes/processes.ts';
import { liveBytes } from '../../harness/processes/resources.ts';
import { sized } from '../../harness/proof-size.ts';

/** Budgets of two pods that are flooded: so small that all requests of a flood are under way at once. */
const SMALL = { userWrites: 40, userReads: 100, elicitationAnswers: 12, userOpen: 10, serviceCalls: 30 };
/** Requests of a flood beyond its budget; fewer than a pod refuses without a delay. */
const BEYOND = 8;
const WINDOW_MS = 10_000;
const KEYS = { flooding: 'flooding-key-of-acme-0123456789', other: 'other-key-of-acme-0123456789' };
const CHAT = '/run/api/elicitation-responses';
const WRONG = { action: 'accept', content: { name: 7 } };

/**
 * Sends more requests than the budget holds, on either pod in turn, and expects that the budget lets in what it holds and
 * refuses the others. Where the machine took longer than a window, each window lets in as many. Returns what was let in.
 */
async function flood(
  { budget, code, ahead = 0 }: { budget: number; code: ErrorCode; ahead?: number },
  send: (index: number, pod: 0 | 1) => Promise<Reply>,
): Promise<Reply[]> {
  const startedAt = performance.now();
  const count = budget + BEYOND;
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) => send(index, index % 2 === 0 ? 0 : 1)),
  );
  const windows = 1 + Math.floor((performance.now() - startedAt) / WINDOW_MS);
  const letIn = replies.filter(({ status }) => status !== 429);
  for (const reply of replies) if (reply.status === 429) expectProblem(reply, 429, code);
  expect(letIn.length).toBeGreaterThanOrEqual(budget - ahead);
  expect(letIn.length).toBeLessThanOrEqual(budget * windows);
  return letIn;
}

export function limitAttacks(world: () => World): void {
  describe('S23 floods', () => {
    let pods: readonly Pod[];
    const metricsUrls: string[] = [];
    beforeAll(async () => {
      const start = async () => {
        const port = await freePort();
        metricsUrls.push(`http://127.0.0.1:${port}/metrics`);
        return startPod({
          ...POD_ENV,
          REDIS_URL: world().redis.url,
          PARLEY_METRICS_PORT: String(port),
          PARLEY_API_KEYS: Object.entries(KEYS)
            .map(([name, key]) => `acme/${name}/admin:${key}`)
            .join(','),
          PARLEY_LIMIT_USER_WRITES: String(SMALL.userWrites),
          PARLEY_LIMIT_USER_READS: String(SMALL.userReads),
          PARLEY_LIMIT_ELICITATION_ANSWERS: String(SMALL.elicitationAnswers),
          PARLEY_LIMIT_USER_OPEN: String(SMALL.userOpen),
          PARLEY_LIMIT_SERVICE_CALLS: String(SMALL.serviceCalls),
        });
      };
      pods = await Promise.all([start(), start()]);
    });
    afterAll(() => Promise.all((pods ?? []).map((pod) => pod.stop())));

    const send = (pod: 0 | 1, request: Request) => call(pods[pod]?.url ?? '', request);

    it('the default limits are those of the contract', () => {
      expect(readEnv('api', {})).toMatchObject({
        PARLEY_LIMIT_USER_WRITES: 300,
        PARLEY_LIMIT_ELICITATION_ANSWERS: 300,
        PARLEY_LIMIT_USER_STREAMS: 20,
        PARLEY_LIMIT_USER_READS: 500,
        PARLEY_LIMIT_USER_OPEN_BYTES: 67_108_864,
        PARLEY_LIMIT_USER_STORED_BYTES: 33_554_432,
        PARLEY_LIMIT_USER_OPEN: 1_000,
        PARLEY_LIMIT_SERVICE_CALLS: 50_000,
        PARLEY_LIMIT_BODY_BYTES: 262_144,
      });
    });

    it('a user has a budget of writes over all pods, failed ones included; the next is 429', async () => {
      const person = await newPerson();
      // Many questions, so that it is not the budget of one of them that runs out.
      const asked = await Promise.all(Array.from({ length: 10 }, () => world().ask(person)));
      const written = await flood({ budget: SMALL.userWrites, code: 'rate_limited' }, (index, pod) => {
        const { elicitationId, conversationId } = asked[index % asked.length] as Elicitation;
        const write = { method: 'POST', token: person.token };
        return index % 3 === 0
          ? send(pod, { ...write, path: CHAT, body: { ...WRONG, elicitationId, conversationId } })
          : send(pod, { ...write, path: `/v1/elicitations/${elicitationId}/response`, body: WRONG });
      });
      expect(new Set(written.map(({ status }) => status))).toEqual(new Set([422]));
      expect((await send(0, { path: '/v1/elicitations', token: person.token })).status).toBe(200);
      const { token } = await newPerson();
      const path = `/v1/elicitations/${MISSING_ID}/response`;
      const stranger = { method: 'POST', path, token, body: { action: 'decline' } };
      expectProblem(await send(0, stranger), 404, 'not_found');
    });

    it('a user has a budget of reads over all pods; the next is 429, and writes are not concerned', async () => {
      const { token } = await newPerson();
      const read = { path: '/v1/elicitations?conversationId=nope', token };
      // A pod takes two reads at a time, and may leave one unused.
      await flood({ budget: SMALL.userReads, code: 'read_quota', ahead: 2 }, (_index, pod) =>
        send(pod, read),
      );
      expect((await send(0, { ...read, token: (await newPerson()).token })).status).toBe(200);
      const path = `/v1/elicitations/${MISSING_ID}/response`;
      const write = { method: 'POST', path, token, body: { action: 'decline' } };
      expectProblem(await send(0, write), 404, 'not_found');
    });

    it('an elicitation has a budget of attempts to answer over all pods; those of others do not count', async () => {
      const [owner, stranger] = [await newPerson(), await newPerson()];
      const { elicitationId } = await world().ask(owner);
      const answer = { method: 'POST', path: `/v1/elicitations/${elicitationId}/response` };
      const budget = { budget: SMALL.elicitationAnswers, code: 'rate_limited' } as const;
      const ofAnother = await flood(budget, (_index, pod) =>
        send(pod, { ...answer, token: stranger.token, body: { action: 'decline' } }),
      );
      expect(new Set(ofAnother.map(({ status }) => status))).toEqual(new Set([404]));
      const own = await flood(budget, (_index, pod) =>
        send(pod, { ...answer, token: owner.token, body: WRONG }),
      );
      expect(new Set(own.map(({ status }) => status))).toEqual(new Set([422]));
    });

    it('a user may have a limited number of open questions over all pods; the next is 429 until one ends [MCP25-48]', async () => {
      const person = await newPerson();
      const ask = (_index: number, pod: 0 | 1) =>
        send(pod, { ...POST_ASK, token: KEYS.other, body: question(person.userId) });
      const replies = await Promise.all(
        Array.from({ length: SMALL.userOpen + BEYOND }, (_, index) => ask(index, index % 2 === 0 ? 0 : 1)),
      );
      const asked = replies.filter(({ status }) => status === 201);
      expect(asked).toHaveLength(SMALL.userOpen);
      for (const reply of replies) if (!asked.includes(reply)) expectProblem(reply, 429, 'rate_limited');
      const { elicitationId } = (asked[0] as Reply).json as Elicitation;
      await world().answer(person, elicitationId, { action: 'decline' });
      expect((await ask(0, 1)).status).toBe(201);
      expectProblem(await ask(0, 0), 429, 'rate_limited');
      const metrics = await Promise.all(metricsUrls.map(async (url) => (await fetch(url)).text()));
      const counted = metrics.map((text) =>
        Number(/^parley_rate_limited_total\{[^}]*limit="open"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0),
      );
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(BEYOND + 1);
    });

    it('a service key has a budget of calls; another key of the same tenant is not affected', async () => {
      const path = `/v1/elicitations/${MISSING_ID}`;
      await flood({ budget: SMALL.serviceCalls, code: 'rate_limited' }, (_index, pod) =>
        send(pod, { path, token: KEYS.flooding }),
      );
      expectProblem(await send(0, { path, token: KEYS.other }), 404, 'not_found');
    });

    it('refused requests leave no trace in memory', async () => {
      const [pod] = world().pods;
      const refuse = async (connections: number) => {
        for (let from = 0; from < connections; from += 5) {
          await Promise.all([0, 1, 2, 3, 4].map((more) => refusedOn(pod.port, from + more)));
        }
      };
      await refuse(sized(45, 5));
      const before = await liveBytes(pod);
      // The bodies alone are more than twice what may stay.
      await refuse(sized(90, 10));
      expect((await liveBytes(pod)) - before).toBeLessThan(5e6);
    });
  });
}

/** Sends fifty requests over one connection, none of them good, and checks that each is refused. */
async function refusedOn(port: number, connection: number): Promise<void> {
  const body = JSON.stringify({ ...question('x'), priority: 'x'.repeat(50_000) });
  const send = function* () {
    for (let index = 0; index < 50; index += 1) {
      const last = index === 49 ? 'close' : 'keep-alive';
      const token =
        index % 2 === 0 ? SERVICE_KEYS.acme : `nobody-${connection}-${index}-${'x'.repeat(2_000)}`;
      const headers = { authorization: `Bearer ${token}`, connection: last };
      if (index % 2 === 1) yield head('GET /v1/elicitations', headers);
      else {
        const more = { 'content-type': 'application/json', 'content-length': String(body.length) };
        yield `${head('POST /v1/elicitations', { ...headers, ...more })}${body}`;
      }
    }
  };
  const replies = repliesIn(await exchange({ port, send: send() }));
  expect(replies.map(({ status }) => status)).toEqual(
    replies.map((_, index) => (index % 2 === 0 ? 400 : 401)),
  );
  expect(replies).toHaveLength(50);
}
