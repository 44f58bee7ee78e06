import { channelName } from '@parley/shared/redis/client/keys';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { type Asked, choose, newOwner, type Reply } from '../harness/site/pod-client.ts';
import { openReader, type Reader } from '../harness/site/reader.ts';
import { countSubscribers, untilSubscribed } from '../harness/site/redis-monitor.ts';
import { openTwoPods, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const SLEEPERS = 20;
// Far shorter than a long poll or a polling interval: a wait that ends sooner was notified.
const TOLD_WITHIN_MS = 40_000;

let site: Site;
let proxy: ChaosProxy;
/** The pod that subscribes through the proxy. */
let far: SitePod;
/** The pod with a direct connection to Redis; the answers go through it. */
let near: SitePod;

beforeAll(async () => {
  ({ site, proxy, far, near } = await openTwoPods());
});
afterEach(async () => {
  await proxy.heal();
  await untilReady(far);
});
afterAll(() => site?.stop());

/** A waiter for an answer and a reader of the stream of the same question, both on the far pod. */
interface Sleeper {
  readonly asked: Asked;
  readonly reader: Reader;
  /** The reply to the waiter, once there is one. */
  reply?: Reply;
}

async function sleepOnFarPod(): Promise<Sleeper[]> {
  const questions = await Promise.all(Array.from({ length: SLEEPERS }, () => near.patient.ask()));
  const replies = questions.map((asked) => far.wait(asked));
  // Before any reader subscribes to the same channel. A waiter that has not read its question yet has no state to sit
  // out an outage with, and gets an error.
  await untilSubscribed(site.redis.url, questions);
  const sleepers = await Promise.all(
    questions.map(async (asked, index): Promise<Sleeper> => {
      const { owner, streamRequestId } = asked;
      const sleeper: Sleeper = {
        asked,
        reader: await openReader({ url: far.url, owner, streamRequestId }),
      };
      replies[index]?.then((reply) => {
        sleeper.reply = reply;
      });
      return sleeper;
    }),
  );
  await waitUntil(() => sleepers.every(({ reader }) => reader.events.length === 1), {
    what: 'the readers to have the question',
  });
  return sleepers;
}

async function answerAll(sleepers: readonly Sleeper[]): Promise<void> {
  for (const { asked } of sleepers)
    expect(await near.patient.answer(asked, choose(asked.id))).toMatchObject({ status: 200 });
}

/** Expects that every waiter and reader received its own answer, once. */
async function allTold(sleepers: readonly Sleeper[]): Promise<void> {
  await waitUntil(
    () => sleepers.every(({ reply, reader }) => reply !== undefined && reader.events.length >= 2),
    {
      what: 'all waiters and readers to be notified',
      timeoutMs: TOLD_WITHIN_MS,
    },
  );
  for (const { asked, reply } of sleepers) {
    expect(reply).toMatchObject({ status: 200, body: { status: 'accepted', content: { choice: asked.id } } });
  }
  for (const { reader } of sleepers) {
    expect(reader.events.map(({ name }) => name)).toEqual(['elicitation-request', 'elicitation-resolved']);
    await reader.close();
  }
}

it('F1 the subscriber is reset while answers are published: all waiters and readers get them after it reconnects', async () => {
  const sleepers = await sleepOnFarPod();
  await proxy.refuse(true);
  proxy.reset();
  await waitUntil(
    async () => {
      const counts = await Promise.all(sleepers.map(({ asked }) => countSubscribers(site.redis.url, asked)));
      return counts.every((count) => count === 0);
    },
    { what: 'no subscriber' },
  );
  await answerAll(sleepers);
  await proxy.heal();
  await allTold(sleepers);
});

it('F1 only the subscriptions are cut, repeatedly, while answers are published: all waiters and readers get them', async () => {
  const sleepers = await sleepOnFarPod();
  const cut = () => redisCommand(site.redis.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  for (const sleeper of sleepers) await Promise.all([cut(), answerAll([sleeper])]);
  await allTold(sleepers);
});

it.each(['both', 'toClient', 'toServer'] as const)(
  'F2 the connections are half-open (%s): all waiters and readers get their answers although no error is reported',
  async (direction) => {
    const sleepers = await sleepOnFarPod();
    proxy.blackhole({ existing: true, fresh: false, direction });
    await answerAll(sleepers);
    await allTold(sleepers);
  },
);

it('F25 wakes arrive twice, late and out of order: each reader gets each event once and no false one', async () => {
  const ear = new Redis(site.redis.url);
  const owner = newOwner();
  const streamRequestId = `turn-${owner.userId}`;
  const first = await near.patient.ask({ owner, streamRequestId });
  const channel = channelName('stream', { ...owner, streamRequestId });
  const wakes: string[] = [];
  ear.on('message', (_channel, message) => wakes.push(message));
  await ear.subscribe(channel);
  const reader = await openReader({ url: far.url, owner, streamRequestId });
  const wait = far.wait(first);
  await untilSubscribed(site.redis.url, [first]);
  expect(await near.patient.answer(first, choose('left'))).toMatchObject({ status: 200 });
  expect(await wait).toMatchObject({ body: { status: 'accepted' } });
  const second = await near.patient.ask({ owner, streamRequestId });
  const open = far.wait(second);
  await waitUntil(() => wakes.length === 2 && reader.events.length === 3, {
    what: 'the events of both questions',
  });

  ear.disconnect();
  const publish = (message: string) => redisCommand(site.redis.url, 'PUBLISH', channel, message);
  const strange = [
    '',
    ' ',
    'nonsense',
    '1-1 2 {',
    '1-1 2 null',
    '1-1 2 {"elicitationId":7}',
    `x ${wakes[0]}`,
  ];
  for (let round = 0; round < 20; round += 1) {
    for (const message of [...wakes].reverse().concat(wakes, strange)) await publish(message);
  }
  // A later event shows that all earlier wakes were processed.
  expect(await near.patient.answer(second, choose('right'))).toMatchObject({ status: 200 });
  expect(await open).toMatchObject({ body: { status: 'accepted', content: { choice: 'right' } } });
  await waitUntil(() => reader.events.length >= 4, { what: 'the last event' });
  expect(reader.events.map(({ elicitationId, name }) => `${name} ${elicitationId}`)).toEqual([
    `elicitation-request ${first.id}`,
    `elicitation-resolved ${first.id}`,
    `elicitation-request ${second.id}`,
    `elicitation-resolved ${second.id}`,
  ]);
  await reader.close();
});
