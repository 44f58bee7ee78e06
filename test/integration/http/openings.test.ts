import { EventEmitter } from 'node:events';
import { get, type ServerResponse } from 'node:http';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { expect, it, onTestFinished } from 'vitest';
import { createOpenings } from '../../../services/api/src/http/limits/openings.ts';
import { unauthenticated } from '../../../services/api/src/http/token.ts';
import { type RestDeps, restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion, newOwner, serviceOf, userOf } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** The token of one whose check takes long, as that of an issuer that must be asked. */
const STRANGER = 'Bearer stranger';
/** As many as a pod has under way; more wait. */
const UNDER_WAY = 16;

/** A pod on which so many readers open streams or wait, and none gets past its budget before `proceed`. */
async function podWith(openingsMax: number) {
  const owner = newOwner();
  const backend = createMemoryBackend(ROOMY);
  const engine = engineOn(backend);
  const { row } = await askQuestion(engine, owner);
  const limits = callLimitsOn(createMemoryLimits());
  let proceed: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  let checked = 0;
  const served = await serveSurfaces({
    surfaces: [restRoutes({ engine, limits, workflows: {}, webhooks: {} } as RestDeps)],
    async authenticate({ method, headers }) {
      if (method === 'GET') checked += 1;
      if (headers.authorization === STRANGER) {
        await gate;
        throw unauthenticated();
      }
      return { caller: userOf(owner), expiresAtMs: Number.POSITIVE_INFINITY };
    },
    limits: { ...limits, opening: () => gate },
    openings: createOpenings({ openingsMax, ofPersonMax: openingsMax }),
  });
  onTestFinished(served.close);
  const url = `${served.url}/v1/inbox/events`;
  const answer = () =>
    fetch(`${served.url}/v1/elicitations/${row.id}/response`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'decline' }),
    });
  return { url, answer, proceed, checked: () => checked };
}

/** Opens a stream; resolves with its status. */
function openStream(url: string, authorization = 'Bearer own'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers: { authorization } }, ({ statusCode = 0 }) =>
      resolve(statusCode),
    );
    request.once('error', reject);
    onTestFinished(() => void request.on('error', () => undefined).destroy());
  });
}

it('readers beyond the bound are refused before their token is read, and come back at times of their own; an answer passes', async () => {
  const pod = await podWith(2);
  const admitted = [openStream(pod.url), openStream(pod.url)];
  await waitUntil(() => pod.checked() === 2, { what: 'two readers to be checked' });
  const refused = await Promise.all(Array.from({ length: 40 }, () => fetch(pod.url)));
  expect(await refused[0]?.json()).toMatchObject({ status: 503, code: 'pod_busy' });
  const seconds = refused.map(({ headers }) => Number(headers.get('retry-after')));
  expect([Math.min(...seconds) >= 1, Math.max(...seconds) <= 10, new Set(seconds).size > 3]).toEqual([
    true,
    true,
    true,
  ]);
  expect((await pod.answer()).status).toBe(200);
  expect(pod.checked()).toBe(2);
  pod.proceed();
  expect(await Promise.all(admitted)).toEqual([200, 200]);
  expect(await openStream(pod.url)).toBe(200);
});

it('strangers take no place: however many are being checked, a reader opens its stream', async () => {
  const pod = await podWith(1);
  const strangers = Array.from({ length: 20 }, () => openStream(pod.url, STRANGER).catch(() => 0));
  await waitUntil(() => pod.checked() === strangers.length, { what: 'the strangers to be checked' });
  const reader = openStream(pod.url);
  await waitUntil(() => pod.checked() === strangers.length + 1, { what: 'the reader to be checked' });
  pod.proceed();
  expect(await reader).toBe(200);
});

it('openings begin one after the other, none in a turn of the event loop in which readers arrive, and one that leaves makes room', async () => {
  const openings = createOpenings({ openingsMax: UNDER_WAY + 2, ofPersonMax: 1 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const come = (reader: number) => {
    const res = new EventEmitter() as ServerResponse;
    const open = () => {
      begun.push(reader);
      return new Promise<void>((resolve) => void ends.push(resolve));
    };
    openings.arrive();
    return { leave: () => res.emit('close'), opened: openings.run({ res }, open) };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const first = [come(0), come(1)];
  await turn();
  expect(begun).toEqual([]);
  await turn();
  expect(begun).toEqual([0]);
  const others = Array.from({ length: UNDER_WAY }, (_, at) => come(at + 2));
  expect(() => come(100)).toThrow(expect.objectContaining({ code: 'pod_busy' }));
  await waitUntil(() => begun.length === UNDER_WAY, { what: 'as many as may be under way' });
  others.at(-2)?.leave();
  await expect(others.at(-2)?.opened).rejects.toMatchObject({ code: 'pod_busy' });
  const last = come(101);
  ends[0]?.();
  await first[0]?.opened;
  await waitUntil(() => begun.length === UNDER_WAY + 1, { what: 'the next one' });
  ends[1]?.();
  await waitUntil(() => begun.length === UNDER_WAY + 2, { what: 'the one that took the room' });
  expect(begun).toEqual([...Array.from({ length: UNDER_WAY }, (_, at) => at), UNDER_WAY + 1, 101]);
  for (const end of ends) end();
  await last.opened;
});

it('readers that arrive in every turn of the event loop hold no opening back for ever', async () => {
  const openings = createOpenings({ openingsMax: 1_000, ofPersonMax: 1 });
  const come = (open: () => Promise<void>) => {
    openings.arrive();
    return openings.run({ res: new EventEmitter() as ServerResponse }, open).catch(() => undefined);
  };
  let isOpen = false;
  const opened = come(async () => {
    isOpen = true;
  });
  let turns = 0;
  for (; turns < 100 && !isOpen; turns += 1) {
    void come(() => new Promise(() => undefined));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(turns).toBeGreaterThan(10);
  expect(isOpen).toBe(true);
  await opened;
});

it('one person who opens streams without end leaves places for others, and has their own again afterwards', async () => {
  const openings = createOpenings({ openingsMax: 100, ofPersonMax: 20 });
  let proceed: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const come = (person: string) =>
    openings
      .run({ res: new EventEmitter() as ServerResponse, person }, () => gate)
      .then(
        () => 'open',
        ({ code }) => code as string,
      );
  const greedy = Array.from({ length: 200 }, () => come('ann'));
  const other = come('bob');
  proceed();
  expect(await other).toBe('open');
  const outcomes = await Promise.all(greedy);
  expect(outcomes.filter((outcome) => outcome === 'open')).toHaveLength(20);
  expect(new Set(outcomes)).toEqual(new Set(['open', 'rate_limited']));
  expect(await come('ann')).toBe('open');
});

it('a service key whose readers have used up their budget of openings can still ask, and the other way round', async () => {
  const limits = callLimitsOn(createMemoryLimits(), { serviceCalls: 2 });
  const key = serviceOf(newOwner());
  const refused = { code: 'rate_limited' };
  await limits.opening(key);
  await limits.opening(key);
  await expect(limits.opening(key)).rejects.toMatchObject(refused);
  await limits.call(key, true);
  await limits.call(key, true);
  await expect(limits.call(key, true)).rejects.toMatchObject(refused);
});
