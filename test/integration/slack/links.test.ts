import { randomUUID } from 'node:crypto';
import { isParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { createLog } from '@parley/shared/observe/log';
import type { Backend } from '@parley/shared/ports/backend';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLinks, type Links } from '../../../services/api/src/surfaces/slack/store/links.ts';
import { linkOwner } from '../../../services/api/src/surfaces/slack/store/workspace.ts';
import { wireEraseUser } from '../../../services/api/src/wiring/erase-user.ts';
import { dispatchOn, engineOn } from '../../harness/engines/engines.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { isFullSize, sized } from '../../harness/proof-size.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let server: RedisServer;
let backend: Backend;
beforeAll(async () => {
  server = await startRedis();
  backend = createRedisBackend({
    location: { kind: 'single', url: server.url },
    settings: ROOMY,
    timerQueues: 1,
  });
  await waitUntil(async () => (await backend.health()).subscription, { what: 'the backend' });
});
afterAll(async () => {
  await backend.close();
  await server.stop();
});

/** A Slack user of a workspace of their own, and two people who may be linked to them. */
function newPeople() {
  const id = randomUUID().replaceAll('-', '').toUpperCase();
  return { user: { teamId: `T${id.slice(0, 20)}`, userId: 'U1' }, ada: newOwner(), bob: newOwner() };
}
type People = ReturnType<typeof newPeople>;

/** What makes or ends links, on one pod. */
const WAYS = {
  'a link of the same person': ({ links }: Pod, { user, ada }: People) => links.add(user, ada),
  'a link of another person': ({ links }: Pod, { user, bob }: People) => links.add(user, bob),
  'the end of the installation': ({ links }: Pod, { user: { teamId } }: People) =>
    links.removeAll({ teamId }),
  'an erasure': ({ erase }: Pod, { ada }: People) => erase(ada),
} as const;
type Way = keyof typeof WAYS;
const ENDS: readonly Way[] = ['the end of the installation', 'an erasure'];
const PAIRS = (Object.keys(WAYS) as Way[]).flatMap((one) =>
  (Object.keys(WAYS) as Way[])
    .filter((other) => !ENDS.includes(one) || !ENDS.includes(other))
    .map((other) => [one, other] as const),
);

/** What stands in Redis before. */
const BEFORE = {
  nothing: async () => undefined,
  'a link': ({ links }: Pod, { user, ada }: People) => links.add(user, ada),
  'a link of an earlier version': async (_pod: Pod, { user, ada: { tenant, userId } }: People) => {
    const { slack } = backend.ownerRecords;
    const owner = { tenant, userId };
    await slack.putIfAbsent(owner, 'slack-link/0', JSON.stringify(user), 60_000);
    await slack.putIfAbsent(linkOwner(user), `link/${user.userId}`, JSON.stringify(owner), 60_000);
  },
} as const;

interface Pod {
  readonly links: Links;
  readonly erase: (owner: Owner) => Promise<void>;
}

/** A pod on `records`. A person who was erased a moment ago is refused, which is no fault here. */
function podOn(records: OwnerRecords = backend.ownerRecords.slack): Pod {
  const links = createLinks(records);
  const own = { ...backend, ownerRecords: { ...backend.ownerRecords, slack: records } };
  const newErase = () =>
    wireEraseUser({
      backend: own,
      engine: engineOn(own),
      log: createLog({ service: 'test', level: 'silent', pod: 'test' }, { write: () => undefined }),
      deliveries: dispatchOn(own),
      deliveryKinds: [],
      disconnectAll: undefined,
      unlink: links.removeOf,
    });
  const refusedIsFine = (error: unknown) => {
    if (!isParleyError(error, 'user_erased')) throw error;
  };
  return {
    links: { ...links, add: (user, owner) => links.add(user, owner).catch(refusedIsFine) },
    erase: async (owner) => void (await newErase()(owner, { kind: 'service', tenant: owner.tenant })),
  };
}

/** Records that call `before` ahead of each call about these people, with its number. */
function watched({ user, ada, bob }: People, before: (call: number) => Promise<void>): OwnerRecords {
  const records = backend.ownerRecords.slack;
  const about = [linkOwner(user), ada, bob].map(({ tenant, userId }) => `${tenant}/${userId}`);
  let calls = 0;
  const on =
    <Args extends [Owner, ...unknown[]], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (about.includes(`${args[0].tenant}/${args[0].userId}`)) await before(calls++);
      return call(...args);
    };
  return {
    putIfAbsent: on(records.putIfAbsent),
    replace: on(records.replace),
    read: on(records.read),
    now: on(records.now),
    list: on(records.list),
    remove: on(records.remove),
    removeAll: on(records.removeAll),
  };
}

/** Which person the Slack user is, and to whom both sides say that they are linked. Fails where these differ. */
async function linkedTo({ user, ada, bob }: People): Promise<Owner | undefined> {
  const { links } = podOn();
  const found = await links.find(user);
  for (const owner of [ada, bob])
    expect(await links.of(owner)).toEqual(
      found?.userId === owner.userId && found.tenant === owner.tenant ? [user] : [],
    );
  return found;
}

/** How many records there are on the side of the Slack user and of each person. */
async function sides({ user, ada, bob }: People): Promise<number[]> {
  const { slack } = backend.ownerRecords;
  const ofPeople = [ada, bob].map((owner) => slack.list(owner, 'slack-link/'));
  const found = await Promise.all([slack.list(linkOwner(user), 'link/'), ...ofPeople]);
  return found.map(({ length }) => length);
}

/** A daily run interferes at every other call of those that are made, in each run and test with the even or the odd ones. */
const EVERY = sized(1, 2);
const firstCall = () => (isFullSize ? 0 : Math.floor(Math.random() * EVERY));

async function expectWhole(people: People): Promise<void> {
  const found = await linkedTo(people);
  const isOf = (owner: Owner) => Number(found?.tenant === owner.tenant);
  expect(await sides(people)).toEqual([Number(found !== undefined), isOf(people.ada), isOf(people.bob)]);
}

describe.each(Object.keys(BEFORE) as (keyof typeof BEFORE)[])('where there was %s', (before) => {
  it.each(PAIRS)(
    '%s leaves a link with both sides or none, whenever %s comes between',
    async (one, other) => {
      let isBetween = true;
      for (let at = firstCall(); isBetween; at += EVERY) {
        const people = newPeople();
        await BEFORE[before](podOn(), people);
        isBetween = false;
        const records = watched(people, async (call) => {
          if (call !== at) return;
          isBetween = true;
          await WAYS[other](podOn(), people);
        });
        await WAYS[one](podOn(records), people);
        await expectWhole(people);
      }
    },
  );

  it.each(Object.keys(WAYS) as Way[])(
    'no side stands alone for a link after %s that was interrupted',
    async (way) => {
      let isInterrupted = true;
      for (let at = firstCall(); isInterrupted; at += EVERY) {
        const people = newPeople();
        await BEFORE[before](podOn(), people);
        const records = watched(people, async (call) => {
          if (call >= at) throw new Error('the pod died');
        });
        isInterrupted = await WAYS[way](podOn(records), people).then(
          () => false,
          () => true,
        );
        await linkedTo(people);
        await WAYS[way](podOn(), people);
        const found = await linkedTo(people);
        if (ENDS.includes(way)) expect([found, await sides(people)]).toEqual([undefined, [0, 0, 0]]);
      }
    },
  );
});

it.each(PAIRS.slice(0, 8))('%s and %s at once leave a link with both sides or none', async (one, other) => {
  for (let round = 0; round < sized(10, 3); round += 1) {
    const people = newPeople();
    await BEFORE['a link'](podOn(), people);
    await Promise.all([WAYS[one](podOn(), people), WAYS[other](podOn(), people)]);
    await expectWhole(people);
  }
});

it('a person keeps their latest eight links, the oldest at the front', async () => {
  const { links } = podOn();
  const { ada, user } = newPeople();
  const users = Array.from({ length: 9 }, (_, index) => ({ ...user, userId: `U${index}` }));
  const { slack } = backend.ownerRecords;
  for (const one of users) {
    await links.add(one, ada);
    const at = await slack.now(ada);
    // Links of one millisecond are in no order.
    await waitUntil(async () => (await slack.now(ada)) > at, { what: 'the next millisecond' });
  }
  expect(await links.of(ada)).toEqual(users.slice(1));
  expect(await links.find({ ...user, userId: 'U0' })).toBeUndefined();
});

it('a link of an earlier version is one, and holds from both sides only', async () => {
  const people = newPeople();
  await BEFORE['a link of an earlier version'](podOn(), people);
  expect(await linkedTo(people)).toEqual(people.ada);
  await backend.ownerRecords.slack.removeAll(people.ada);
  expect(await linkedTo(people)).toBeUndefined();
});
