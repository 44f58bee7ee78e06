import { channelName } from '@parley/shared/redis/client/keys';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Asked, choose, newOwner, type Reply } from './door.ts';
import { openReader, type Reader } from './reader.ts';
import { subscribersOf, untilHeard } from './redis-eye.ts';
import { openTwoPods, type Site, type SitePod, untilReady } from './site.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SLEEPERS = 20;
// Far less than the time of a long poll or the next slow look: whoever ends sooner was told.
const TOLD_WITHIN_MS = 40_000;

let site: Site;
let proxy: ChaosProxy;
/** Hears of Redis through the proxy. */
let far: SitePod;
/** Straight on Redis; the answers go through it. */
let near: SitePod;

beforeAll(async () => {
  ({ site, proxy, far, near } = await openTwoPods());
});
afterEach(async () => {
  await proxy.heal();
  await untilReady(far);
});
afterAll(() => site?.stop());

/** Who waits for an answer, and who watches the stream of the same question, both on the far pod. */
interface Sleeper {
  readonly asked: Asked;
  readonly reader: Reader;
  /** What the waiter was told, once it was. */
  told?: Reply;
}

async function sleepOnFarPod(): Promise<Sleeper[]> {
  const questions = await Promise.all(Array.from({ length: SLEEPERS }, () => near.ask()));
  const replies = questions.map((asked) => far.wait(asked));
  // Before any reader subscribes to the same channel. A waiter that has not read its question yet has nothing to ride
  // an outage out with, and says so.
  await untilHeard(site.redis.url, questions);
  const sleepers = await Promise.all(
    questions.map(async (asked, index): Promise<Sleeper> => {
      const { owner, streamRequestId } = asked;
      const sleeper: Sleeper = {
        asked,
        reader: await openReader({ url: far.url, owner, streamRequestId }),
      };
      replies[index]?.then((reply) => {
        sleeper.told = reply;
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
    expect(await near.answer(asked, choose(asked.id))).toMatchObject({ status: 200 });
}

/** Every one was told of its own answer, once. */
async function allTold(sleepers: readonly Sleeper[]): Promise<void> {
  await waitUntil(
    () => sleepers.every(({ told, reader }) => told !== undefined && reader.events.length >= 2),
    {
      what: 'all waiters and readers to be told',
      timeoutMs: TOLD_WITHIN_MS,
    },
  );
  for (const { asked, told } of sleepers) {
    expect(told).toMatchObject({ status: 200, body: { status: 'accepted', content: { choice: asked.id } } });
  }
  for (const { reader } of sleepers) {
    expect(reader.events.map(({ name }) => name)).toEqual(['elicitation-request', 'elicitation-resolved']);
    await reader.close();
  }
}

it('F1 the subscriber is reset while the answers are published: everyone is told after it is back', async () => {
  const sleepers = await sleepOnFarPod();
  await proxy.refuse(true);
  proxy.reset();
  await waitUntil(
    async () => {
      const counts = await Promise.all(sleepers.map(({ asked }) => subscribersOf(site.redis.url, asked)));
      return counts.every((count) => count === 0);
    },
    { what: 'nobody to be subscribed' },
  );
  await answerAll(sleepers);
  await proxy.heal();
  await allTold(sleepers);
});

it('F1 only the subscriptions are cut, again and again, while the answers are published: everyone is told', async () => {
  const sleepers = await sleepOnFarPod();
  const cut = () => redisCommand(site.redis.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  for (const sleeper of sleepers) await Promise.all([cut(), answerAll([sleeper])]);
  await allTold(sleepers);
});

it.each(['both', 'toClient', 'toServer'] as const)(
  'F2 the connections are half-open (%s): everyone is told although nothing says so',
  async (direction) => {
    const sleepers = await sleepOnFarPod();
    proxy.blackhole({ existing: true, fresh: false, direction });
    await answerAll(sleepers);
    await allTold(sleepers);
  },
);

it('F25 wakes come twice, late and out of order: each is told once, and only what is true', async () => {
  const ear = new Redis(site.redis.url);
  const owner = newOwner();
  const streamRequestId = `turn-${owner.userId}`;
  const first = await near.ask({ owner, streamRequestId });
  const channel = channelName('stream', { ...owner, streamRequestId });
  const wakes: string[] = [];
  ear.on('message', (_channel, message) => wakes.push(message));
  await ear.subscribe(channel);
  const reader = await openReader({ url: far.url, owner, streamRequestId });
  const wait = far.wait(first);
  await untilHeard(site.redis.url, [first]);
  expect(await near.answer(first, choose('left'))).toMatchObject({ status: 200 });
  expect(await wait).toMatchObject({ body: { status: 'accepted' } });
  const second = await near.ask({ owner, streamRequestId });
  const open = far.wait(second);
  await waitUntil(() => wakes.length === 2 && reader.events.length === 3, {
    what: 'both questions to be told',
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
  // What comes after it all shows that all of it was heard.
  expect(await near.answer(second, choose('right'))).toMatchObject({ status: 200 });
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
