import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prove, SIZE } from '../harness/load/size.ts';
import { type Asked, choose, type Reply } from '../harness/site/pod-client.ts';
import { readEvents } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';

const COLOURS = ['red', 'green', 'blue', 'white', 'black'];
const RACERS = 100;
const DEADLINES = SIZE.full ? 50 : 5;

let site: Site;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSite();
  pods = await Promise.all([0, 1, 2].map(() => site.pod()));
});
afterAll(() => site?.stop());

function podAt(index: number): SitePod {
  const pod = pods[index % pods.length];
  if (pod === undefined) throw new Error('there are no pods');
  return pod;
}
function answer(pod: SitePod, asked: Asked, choice: string): Promise<Reply> {
  return pod.patient.answer(asked, choose(choice));
}

it('100 answers race for one elicitation over three pods: one is recorded, equal answers get 200, others get 409 with the recorded answer', async () => {
  const asked = await podAt(0).patient.ask();
  const waits = pods.map((pod) => pod.wait(asked));
  const replies = await Promise.all(
    Array.from({ length: RACERS }, async (_, index) => {
      const colour = COLOURS[index % COLOURS.length] ?? '';
      return { colour, reply: await answer(podAt(index), asked, colour) };
    }),
  );
  const recorded = (await podAt(1).patient.read(asked)).body;
  expect(recorded).toMatchObject({ status: 'accepted', action: 'accept', content: expect.anything() });
  const winner = (recorded.content as { choice: string }).choice;
  for (const { colour, reply } of replies) {
    if (colour === winner) expect(reply).toMatchObject({ status: 200, body: timeless(recorded) });
    else {
      const elicitation = timeless(recorded);
      expect(reply).toMatchObject({ status: 409, code: 'already_settled', body: { elicitation } });
    }
  }
  for (const wait of await Promise.all(waits))
    expect(wait).toMatchObject({ status: 200, body: timeless(recorded) });
  expect(await readEvents(site.redis.url, asked)).toEqual(['elicitation-request', 'elicitation-resolved']);
  const taken = replies.filter(({ reply }) => reply.status === 200).length;
  prove(
    '100 answers race over three pods',
    `1 recorded, ${taken} equal ones got 200, ${RACERS - taken} got 409`,
  );
});

it('F24 100 responders race the deadline over two pods: the elicitation ends exactly once, and all replies agree', async () => {
  const ends = { accepted: 0, expired: 0 };
  for (let round = 0; round < DEADLINES; round += 1) {
    const asked = await podAt(0).ask({ timeoutSeconds: 1 });
    const since = performance.now();
    const replies = await Promise.all(
      Array.from({ length: RACERS }, async (_, index) => {
        // A few milliseconds on both sides of the deadline; the request itself has used part of its second.
        await sleep(975 + Math.random() * 30 - (performance.now() - since));
        return { choice: `${index}`, reply: await answer(podAt(1 + (index % 2)), asked, `${index}`) };
      }),
    );
    ends[await endOf(asked, replies)] += 1;
    expect(await readEvents(site.redis.url, asked)).toEqual(['elicitation-request', 'elicitation-resolved']);
  }
  expect(ends.accepted + ends.expired).toBe(DEADLINES);
  prove(
    'F24 100 responders race the deadline',
    `${DEADLINES} deadlines: ${ends.accepted} answered, ${ends.expired} expired`,
  );
});

/** Checks that all replies agree with the end: either one answer was in time and won, or all were too late. */
async function endOf(
  asked: Asked,
  replies: readonly { readonly choice: string; readonly reply: Reply }[],
): Promise<'accepted' | 'expired'> {
  const recorded = (await podAt(0).read(asked)).body;
  const statuses = replies.map(({ reply }) => reply.status);
  const { settledAt, expiresAt } = recorded as Record<string, string>;
  if (recorded.status === 'expired') {
    expect(new Set(statuses)).toEqual(new Set([410]));
    expect(Date.parse(String(settledAt))).toBeGreaterThanOrEqual(Date.parse(String(expiresAt)));
    return 'expired';
  }
  const winner = replies.filter(({ reply }) => reply.status === 200);
  expect(winner.map(({ choice }) => ({ choice }))).toEqual([recorded.content]);
  expect(statuses.filter((status) => status === 409)).toHaveLength(RACERS - 1);
  expect(Date.parse(String(settledAt))).toBeLessThan(Date.parse(String(expiresAt)));
  return 'accepted';
}

function timeless({ serverTime: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}
