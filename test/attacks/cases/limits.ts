import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { readEnv } from '@parley/shared/runtime/env';
import { describe, expect, it } from 'vitest';
import { call, expectProblem, type Reply } from '../../harness/attacks/call.ts';
import { exchange, head, repliesIn } from '../../harness/attacks/raw.ts';
import {
  LIMITS,
  MISSING_ID,
  newPerson,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { startPod } from '../../harness/processes/processes.ts';
import { liveBytes } from '../../harness/processes/resources.ts';

const USER_WRITES = 300;
const USER_READS = 500;
/** Reads that a pod may take ahead of a user's budget, and leave unused. */
const READ_BATCH = 10;
const AT_ONCE = 25;
const ROUNDS = 2;
const CHAT = '/run/api/elicitation-responses';

/** Runs `one` for 0 to `count - 1`, a few at a time, on either pod in turn. */
async function flood(count: number, one: (index: number, pod: 0 | 1) => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      replies.push(await one(index, index % 2 === 0 ? 0 : 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return replies;
}

const refusedIn = (replies: readonly Reply[]) => replies.filter(({ status }) => status === 429);

export function limitAttacks(world: () => World): void {
  describe('S23 floods', () => {
    it('the default limits are those of the contract', () => {
      expect(readEnv('api', {})).toMatchObject({
        PARLEY_LIMIT_USER_WRITES: USER_WRITES,
        PARLEY_LIMIT_ELICITATION_ANSWERS: 300,
        PARLEY_LIMIT_USER_STREAMS: 20,
        PARLEY_LIMIT_USER_READS: USER_READS,
        PARLEY_LIMIT_USER_OPEN_BYTES: 67_108_864,
        PARLEY_LIMIT_USER_STORED_BYTES: 33_554_432,
        PARLEY_LIMIT_USER_OPEN: 1_000,
        PARLEY_LIMIT_SERVICE_CALLS: 50_000,
        PARLEY_LIMIT_BODY_BYTES: 262_144,
      });
    });

    it('a user may make 300 writes in 10 s over all pods, failed ones included; the next is 429', async () => {
      const replies = await firstThatFits(async () => {
        const person = await newPerson();
        // Many questions, so that it is not the budget of one of them that runs out.
        const asked = await Promise.all(Array.from({ length: 10 }, () => world().ask(person)));
        const wrong = { action: 'accept', content: { name: 7 } };
        const written = await within10Seconds(() =>
          flood(USER_WRITES + 25, (index, pod) => {
            const { elicitationId, conversationId } = asked[index % asked.length] as Elicitation;
            const path = `/v1/elicitations/${elicitationId}/response`;
            const call = { method: 'POST', token: person.token, pod };
            return index % 3 === 0
              ? world().call({ ...call, path: CHAT, body: { ...wrong, elicitationId, conversationId } })
              : world().call({ ...call, path, body: wrong });
          }),
        );
        expect((await world().call({ path: '/v1/elicitations', token: person.token })).status).toBe(200);
        return written;
      });
      for (const reply of refusedIn(replies)) expectProblem(reply, 429, 'rate_limited');
      expect(refusedIn(replies)).toHaveLength(25);
      expect(replies.filter(({ status }) => status === 422)).toHaveLength(USER_WRITES);
      const other = await newPerson();
      expectProblem(await world().answer(other, MISSING_ID, { action: 'decline' }), 404, 'not_found');
    });

    it('a user may make 500 reads in 10 s over all pods; the next is 429, and writes are not concerned', async () => {
      let reader = await newPerson();
      const read = ({ token }: typeof reader, pod: 0 | 1) =>
        world().call({ path: '/v1/elicitations?conversationId=nope', token, pod });
      const replies = await firstThatFits(async () => {
        reader = await newPerson();
        return within10Seconds(() => flood(USER_READS + 60, (_index, pod) => read(reader, pod)));
      });
      for (const reply of refusedIn(replies)) expectProblem(reply, 429, 'read_quota');
      expect(refusedIn(replies).length).toBeGreaterThanOrEqual(60);
      expect(refusedIn(replies).length).toBeLessThanOrEqual(60 + 2 * READ_BATCH);
      expect((await read(await newPerson(), 0)).status).toBe(200);
      expectProblem(await world().answer(reader, MISSING_ID, { action: 'decline' }), 404, 'not_found');
    });

    it('an elicitation accepts a limited number of answer attempts in 10 s over all pods; the next is 429', async () => {
      const replies = await firstThatFits(async () => {
        const person = await newPerson();
        const { elicitationId } = await world().ask(person);
        const request = {
          method: 'POST',
          path: `/v1/elicitations/${elicitationId}/response`,
          token: person.token,
        };
        return within10Seconds(() =>
          flood(LIMITS.elicitationAnswers + 15, (_index, pod) =>
            world().call({ ...request, pod, body: { action: 'accept', content: { name: 7 } } }),
          ),
        );
      });
      for (const reply of refusedIn(replies)) expectProblem(reply, 429, 'rate_limited');
      expect(refusedIn(replies)).toHaveLength(15);
      expect(replies.filter(({ status }) => status === 422)).toHaveLength(LIMITS.elicitationAnswers);
    });

    it("answers from another user do not count against the owner's limit", async () => {
      const [owner, stranger] = [await newPerson(), await newPerson()];
      const { elicitationId } = await world().ask(owner);
      const replies = await flood(LIMITS.elicitationAnswers + 5, () =>
        world().answer(stranger, elicitationId, { action: 'decline' }),
      );
      for (const { status } of replies) expect([404, 429]).toContain(status);
      const taken = await world().answer(owner, elicitationId, { action: 'cancel' });
      expect(taken.json).toMatchObject({ status: 'cancelled' });
    });

    it('a user may have a limited number of open questions over all pods; the next is 429 until one ends [MCP25-48]', async () => {
      const person = await newPerson();
      const ask = (pod: 0 | 1) =>
        world().call({ ...POST_ASK, token: SERVICE_KEYS.acme, pod, body: question(person.userId) });
      const replies = await flood(LIMITS.userOpen + 10, (_index, pod) => ask(pod));
      for (const reply of refusedIn(replies)) expectProblem(reply, 429, 'rate_limited');
      const asked = replies.filter(({ status }) => status === 201);
      expect([asked.length, refusedIn(replies).length]).toEqual([LIMITS.userOpen, 10]);
      const { elicitationId } = (asked[0] as Reply).json as { elicitationId: string };
      await world().answer(person, elicitationId, { action: 'decline' });
      expect((await ask(1)).status).toBe(201);
      expectProblem(await ask(0), 429, 'rate_limited');
      const counted = await Promise.all(
        world().metricsUrls.map(async (url) => {
          const text = await (await fetch(url)).text();
          return Number(/^rate_limited_total\{[^}]*limit="open"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
        }),
      );
      expect(counted.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(11);
    });

    it('a service key may make a limited number of calls, then gets 429; another key of the same tenant is not affected', async () => {
      const keys = [0, 1, 2, 3].map((index) => `key-${index}-of-acme-0123456789`);
      const other = 'other-key-of-acme-0123456789';
      let tries = 0;
      const calls = 40;
      const pod = await startPod({
        REDIS_URL: world().redis.url,
        PARLEY_API_KEYS: [...keys, other].map((key) => `acme:${key}`).join(','),
        PARLEY_LIMIT_SERVICE_CALLS: String(calls),
      });
      try {
        const read = (token: string) => call(pod.url, { path: `/v1/elicitations/${MISSING_ID}`, token });
        const replies = await firstThatFits(() => {
          const key = keys[tries] ?? '';
          tries += 1;
          return within10Seconds(() => flood(calls + 5, () => read(key)));
        });
        for (const reply of refusedIn(replies)) expectProblem(reply, 429, 'rate_limited');
        expect(refusedIn(replies)).toHaveLength(5);
        expectProblem(await read(other), 404, 'not_found');
      } finally {
        await pod.stop();
      }
    });

    it('thousands of refused requests leave no trace in memory', async () => {
      const [pod] = world().pods;
      const refuse = async (connections: number) => {
        for (let from = 0; from < connections; from += 5) {
          await Promise.all([0, 1, 2, 3, 4].map((more) => refusedOn(pod.port, from + more)));
        }
      };
      await refuse(45);
      const before = await liveBytes(pod);
      for (let round = 0; round < ROUNDS; round += 1) await refuse(45);
      // What is sent is more than 100 MB.
      expect((await liveBytes(pod)) - before).toBeLessThan(5e6);
    }, 120_000);
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

/** What `run` gives, unless the window of the budget may have passed meanwhile. */
async function within10Seconds(run: () => Promise<Reply[]>): Promise<Reply[] | undefined> {
  const startedAt = performance.now();
  const replies = await run();
  return performance.now() - startedAt < 10_000 ? replies : undefined;
}

async function firstThatFits(attempt: () => Promise<Reply[] | undefined>): Promise<Reply[]> {
  for (let tries = 0; tries < 4; tries += 1) {
    const replies = await attempt();
    if (replies !== undefined) return replies;
  }
  throw new Error('this machine is too slow to fill a budget within its window');
}
