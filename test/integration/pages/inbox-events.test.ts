import { afterEach, expect, test, vi } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { type OpenStream, openStream } from '../../harness/attacks/stream.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { createTestBrowser, type TestBrowser } from '../../harness/pages/browser.ts';
import { ADA, TOKEN_SECRET, type World } from '../../harness/pages/setup.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { pagesSuite } from './suite.ts';

const { world } = pagesSuite();
afterEach(() => void vi.useRealTimers());

const INBOX = '/auth/inbox';
const EVENTS = `${INBOX}/events`;
const STREAM = { ...ADA, streamRequestId: 'run 1' };

async function entered() {
  const here = await world({ identity: 'typed' });
  const browser = createTestBrowser(here);
  return { here, browser, open: () => browser.enter(INBOX, 'ada') };
}

/** Opens the stream with the cookies of a browser. */
const follow = ({ publicUrl }: World, { jar }: TestBrowser, headers: Record<string, string> = {}) =>
  openStream({ url: publicUrl }, EVENTS, '', { cookie: jar.header(publicUrl + EVENTS), ...headers });
const changes = async (stream: OpenStream, count: number) => {
  await stream.event(count - 1);
  return stream.events().map(({ data }) => data);
};

test('the stream of an inbox is for the page of a signed-in person alone', async () => {
  const { here, browser, open } = await entered();
  await open();
  const stranger = createTestBrowser(here);
  await stranger.open(INBOX);
  for (const refused of [
    await follow(here, createTestBrowser(here)),
    await follow(here, stranger),
    await follow(here, browser, { 'sec-fetch-site': 'cross-site' }),
    await follow(here, browser, { 'sec-fetch-site': 'same-site' }),
    await follow(here, browser, { origin: 'https://evil.example' }),
    // A token is no session.
    await openStream({ url: here.publicUrl }, EVENTS, await userToken({ secret: TOKEN_SECRET, ...ADA })),
  ])
    expect([refused.status, refused.events()]).toEqual([401, []]);
  const bound = await world({ identity: createBoundIdentity('https://app.example/who') });
  expect((await follow(bound, browser)).status).toBe(401);
});

test('it tells of the person’s own records that they have changed, and nothing of what they hold', async () => {
  const { here, browser, open } = await entered();
  await open();
  const other = createTestBrowser(here);
  await other.enter(INBOX, 'bob');
  const [ofAda, ofBob] = [await follow(here, browser), await follow(here, other)];
  await Promise.all([changes(ofAda, 1), changes(ofBob, 1)]);
  const { row } = await requestApproval(here.engine, STREAM, { rule: 'secret rule' });
  await changes(ofAda, 2);
  await decideAs(here.engine, STREAM, row.id, { decision: 'deny', reason: 'secret reason' });
  await waitUntil(() => ofAda.events().at(-1)?.data.id === row.id, { what: 'the end of the call' });
  await requestApproval(here.engine, { ...STREAM, userId: 'bob', streamRequestId: 'run 2' });
  expect(await changes(ofBob, 2)).toEqual([{}, {}]);
  expect(ofAda.events().at(-1)?.data).toEqual({ id: row.id, status: 'denied' });
  expect(ofAda.text()).not.toMatch(/secret|B-1|Travel/u);
  for (const { close } of [ofAda, ofBob]) close();
});

test('it tells nothing after a sign-out, and cannot be opened again', async () => {
  const { here, browser, open } = await entered();
  const shown = await open();
  const cookie = browser.jar.header(here.publicUrl + EVENTS);
  const stream = await follow(here, browser);
  await changes(stream, 1);
  await browser.submit(shown, 'sign-out');
  const { row } = await requestApproval(here.engine, STREAM);
  await waitUntil(() => here.podsServing(EVENTS).length === 0, { what: 'the end of the stream' });
  expect(stream.text()).not.toContain(row.id);
  expect(stream.events()).toHaveLength(1);
  expect((await follow(here, browser, { cookie })).status).toBe(401);
});

test('it ends within a minute of its session, also where nothing changes', async () => {
  const { here, browser, open } = await entered();
  const shown = await open();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const stream = await follow(here, browser);
  await changes(stream, 1);
  vi.advanceTimersByTime(60_000);
  await browser.submit(shown, 'sign-out');
  expect(here.podsServing(EVENTS)).toHaveLength(1);
  vi.advanceTimersByTime(60_000);
  await waitUntil(() => here.podsServing(EVENTS).length === 0, { what: 'the end of the stream' });
  expect(stream.events()).toHaveLength(1);
});

test('it takes one of the places for the streams of a person', async () => {
  const { here, browser, open } = await entered();
  await open();
  const streams: OpenStream[] = [];
  for (let at = 0; at < 6; at += 1) streams.push(await follow(here, browser));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  for (const { close } of streams) close();
});
