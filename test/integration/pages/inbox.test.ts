import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { describe, expect, test } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { createTestBrowser, headingOf, SAYS, type Shown } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { askAboutSeat, MESSAGE } from './seat-question.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { world } = pagesSuite();

const INBOX = '/auth/inbox';
const BOB = { ...ADA, userId: 'bob' };
const STREAM = { ...ADA, streamRequestId: 'run 1' };
const OF_BOB = { ...BOB, streamRequestId: 'run 2' };
const TOOL = { server: 'bk-7', serverTitle: 'Bookings', name: 'bookings_cancel', title: 'Cancel a booking' };
const FORM = { type: 'object', properties: { seat: { type: 'string' } } } as const;
const TITLE = 'Your inbox';
const PARTLY = headingOf({ page: 'group-partly', recorded: 1, chosen: 2 });

const ask = (here: World, timeoutSeconds: number) =>
  askAboutSeat(here, { requestedSchema: FORM }, { timeoutSeconds });

/** What the page lists, by the addresses it leads to. */
const pathsOn = ({ html }: Shown) =>
  [...html.matchAll(/<a class="button" href="([^"]+)"/gu)].map(([, path]) => path);

/** Ada has approved a call of the tool for this conversation, and Bob has, too. */
async function remembered(here: World) {
  for (const stream of [STREAM, OF_BOB]) {
    const { row } = await requestApproval(here.engine, stream, { tool: TOOL });
    await decideAs(here.engine, stream, row.id, { decision: 'approve', remember: true });
  }
}

/** Ada, signed in and before her inbox. */
async function entered(options: WorldOptions = {}) {
  const here = await world({ identity: 'typed', ...options });
  const browser = createTestBrowser(here);
  return { here, browser, open: () => browser.enter(INBOX, 'ada') };
}

test('a person signs in and sees all that waits for them, what ends first before the rest', async () => {
  const { here, browser, open } = await entered({ identity: 'oidc' });
  const late = await ask(here, 900);
  const soon = await ask(here, 60);
  const connect = await here.ask({ timeoutSeconds: 300 });
  const { row: approval } = await requestApproval(here.engine, STREAM, { tool: TOOL, timeoutSeconds: 600 });
  const { row: denied } = await requestApproval(here.engine, STREAM, { tool: TOOL });
  await decideAs(here.engine, STREAM, denied.id, { decision: 'deny' });
  await requestApproval(here.engine, OF_BOB, { tool: TOOL });
  await remembered(here);
  await here.vault.save(
    { ...ADA, toolId: 'issues', connectorId: 'tracker' },
    { kind: 'api_key', value: 'k' },
  );

  expect((await browser.open(INBOX)).heading).toBe(SAYS.signIn);
  const shown = await open();
  expect(shown).toMatchObject({ status: 200, heading: TITLE, hops: [INBOX] });
  const paths = [soon.path, connect.path, `/auth/answer/${approval.id}?inbox`, late.path];
  expect(pathsOn(shown)).toEqual(paths);
  for (const text of [
    MESSAGE,
    'Helper',
    'Travel desk',
    'Cancel a booking',
    'Bookings',
    'In one conversation',
  ])
    expect(shown.html).toContain(text);
  expect(shown.html).toContain('/auth/accounts/issues/disconnect');
  for (const text of ['bk-7', 'B-1', 'bob']) expect(shown.html).not.toContain(text);

  const question = await browser.open(soon.path);
  const answered = await browser.submit(question, 'accept', { 'field-0': 'window' });
  expect(answered.html).toContain(`href="${INBOX}"`);
  // From the inbox, a decision leads to what is decided next; else its page leads back to the inbox.
  const { row: other } = await requestApproval(here.engine, STREAM, { tool: TOOL, rule: 'other' });
  const next = await browser.submit(await browser.open(paths[2] ?? ''), 'approve');
  expect(next).toMatchObject({ hops: [`/auth/answer/${other.id}?inbox`] });
  expect((await browser.submit(next, 'deny')).hops).toEqual([INBOX]);
  const tooLate = await browser.submit(next, 'approve');
  expect([tooLate.status, tooLate.html]).toEqual([409, expect.stringContaining(`href="${INBOX}"`)]);
  expect(pathsOn(await browser.open(INBOX))).toEqual([connect.path, late.path]);
  const out = await browser.submit(await browser.open(INBOX), 'sign-out');
  expect(out.heading).toBe(SAYS.signIn);
  expect((await browser.open(INBOX)).heading).toBe(SAYS.signIn);
});

test('a person with more than a page shows sees the newest, and that there is more', async () => {
  const { here, open } = await entered();
  await ask(here, 600);
  // Of two questions of the same millisecond, either is the newer one.
  const askedAt = Date.now();
  await waitUntil(() => Date.now() > askedAt, { what: 'a later millisecond', everyMs: 1 });
  const ids: string[] = [];
  for (let at = 0; at < 300; at += 1) ids.push((await ask(here, 600)).path);
  const shown = await open();
  expect(shown.html).toContain('More waits for you');
  expect(new Set(pathsOn(shown))).toEqual(new Set(ids));
});

test('a remembered approval is forgotten once, and only one of one’s own', async () => {
  const { here, browser, open } = await entered();
  await remembered(here);
  const shown = await open();
  const [{ grantId = '' } = {}] = await here.engine.approvals.grants.list(BOB);
  const fields = shown.forms.get('forget')?.fields ?? {};
  // The same agent, tool, rule and conversation has the same id for both.
  expect(shown.forms.get('forget')?.action).toBe(`${INBOX}/remembered/${grantId}/forget`);
  for (const path of [`${INBOX}/remembered/${grantId}/forget`, `${INBOX}/remembered/unknown/forget`])
    for (const again of [1, 2])
      expect([path, again, (await browser.post(path, fields)).hops]).toEqual([path, again, [INBOX]]);
  expect(await here.engine.approvals.grants.list(ADA)).toEqual([]);
  expect(await here.engine.approvals.grants.list(BOB)).toHaveLength(1);
  expect((await browser.open(INBOX)).html).toContain('There are none.');
});

test('where nobody signs in there is no inbox', async () => {
  const { here } = await entered({ identity: createBoundIdentity('https://app.example/who') });
  const browser = createTestBrowser(here);
  const shown = await browser.open(INBOX);
  expect([shown.status, shown.heading]).toEqual([404, headingOf({ page: 'inbox-elsewhere' })]);
});

describe('equal calls', () => {
  const TEXT = 'The same in every call';

  /** A call that waits for Ada; calls of one rule, tool and risk below high are decided together. */
  async function call(here: World, more: Partial<ApprovalDefinition> = {}) {
    const args = { booking: 'B-1', refund: true };
    const { row } = await requestApproval(here.engine, STREAM, {
      ...{ tool: TOOL, risk: 'low', arguments: args, masked: [], ...more },
    });
    return row.id;
  }

  const callsOn = ({ html }: Shown) =>
    [...html.matchAll(/name="call" value="([^"]+)"/gu)].map(([, id = '']) => id);
  const statusOf = async (here: World, id: string) =>
    (await here.engine.approvals.read({ kind: 'user', ...ADA }, id)).row.status;

  test('are one item of the inbox, which is sorted by risk; those of a high or unknown risk stand alone', async () => {
    const { here, browser, open } = await entered();
    const groups = [
      [await call(here), await call(here)],
      [await call(here, { risk: 'medium' }), await call(here, { risk: 'medium' })],
    ];
    const high = [await call(here, { risk: 'high' }), await call(here, { risk: 'high', timeoutSeconds: 60 })];
    const unknown = await call(here, { risk: undefined } as never);
    const alone = await call(here, { rule: 'other' });
    const shown = await open();
    const paths = pathsOn(shown);
    const single = (id = '') => `/auth/answer/${id}?inbox`;
    expect(paths.slice(0, 3)).toEqual([single(high[1]), single(high[0]), single(unknown)]);
    expect(new Set(paths.slice(4))).toEqual(new Set([expect.stringMatching(/\/groups\//), single(alone)]));
    expect(shown.html).toContain('times</h3>');
    expect(shown.html).toContain('Risk: High');
    const [low, medium] = groups;
    expect(new Set(callsOn(await browser.open(paths[3] ?? '')))).toEqual(new Set(medium));
    const lowPath = paths.slice(4).find((path) => path?.includes('/groups/')) ?? '';
    expect(new Set(callsOn(await browser.open(lowPath)))).toEqual(new Set(low));
  });

  test('are decided in one step that shows in what each differs, each by itself', async () => {
    const { here, browser, open } = await entered();
    const secret = (booking: string) => ({ booking, refund: true, apiKey: '••••••' });
    const ids: string[] = [];
    for (const booking of ['B-1', 'B-2', 'B-3'])
      ids.push(await call(here, { arguments: secret(booking), masked: ['/apiKey'] }));
    const group = await browser.open(pathsOn(await open())[0] ?? '');
    expect(group.heading).toBe('Travel desk wants to use “Cancel a booking” 3 times');
    const [, same = '', differing = ''] = group.html.split(/<h2>[^<]+<\/h2>/u);
    expect(group.html).toContain(TEXT);
    expect([same.includes('refund'), same.includes('booking'), same.includes('apiKey')]).toEqual([
      true,
      false,
      false,
    ]);
    // What a mask hides may differ, so that it never counts as the same.
    for (const text of ['B-1', 'B-2', 'B-3']) expect(differing).toContain(text);
    expect(differing.match(/secret, not shown/gu)).toHaveLength(3);

    const { action = '', fields = {} } = group.forms.get('approve') ?? {};
    expect((await browser.post(action, fields)).status).toBe(422);
    const [first = '', second = '', third = ''] = ids;
    const left = await browser.post(action, { ...fields, call: first });
    // What a person has left out is not put before them again at once, checked.
    expect(left.hops).toEqual([INBOX]);
    await decideAs(here.engine, STREAM, second, { decision: 'deny' });
    const late = await browser.postAll(action, [
      ...Object.entries(fields),
      ['call', second],
      ['call', third],
    ]);
    expect([late.status, late.heading]).toEqual([409, PARTLY]);
    expect(late.html).toContain('for 1 of 2 calls');
    expect(await Promise.all(ids.map((id) => statusOf(here, id)))).toEqual([
      'approved',
      'denied',
      'approved',
    ]);
    expect(
      (await browser.open(new URL(action, here.publicUrl).pathname.replace(/\/approve$/u, ''))).hops,
    ).toEqual([INBOX]);
  });

  test('say how many were decided when a limit is reached among them', async () => {
    const callLimits = callLimitsOn(createMemoryLimits(), { userWrites: 2 });
    const { here, browser, open } = await entered({ deps: { callLimits } });
    const ids = [await call(here), await call(here), await call(here)];
    const { forms } = await browser.open(pathsOn(await open())[0] ?? '');
    const { action = '', fields = {} } = forms.get('approve') ?? {};
    const chosen = ids.map((id): [string, string] => ['call', id]);
    const partly = await browser.postAll(action, [...Object.entries(fields), ...chosen]);
    expect([partly.status, partly.heading]).toEqual([409, PARTLY]);
    expect(partly.html).toContain('for 2 of 3 calls');
    const statuses = await Promise.all(ids.map((id) => statusOf(here, id)));
    expect(statuses).toEqual(['approved', 'approved', 'pending']);
    expect((await browser.postAll(action, [...Object.entries(fields), ...chosen])).status).toBe(429);
  });

  test('are those of a tool that says the same of itself, and show what it says', async () => {
    const { here, browser, open } = await entered();
    const hints = (destructive: boolean) => ({ tool: { ...TOOL, hints: { destructive } } });
    for (const destructive of [true, true, false]) await call(here, hints(destructive));
    await call(here, { tool: { ...TOOL, title: 'Look at a booking' } });
    const paths = pathsOn(await open());
    expect(paths).toHaveLength(3);
    const group = await browser.open(paths.find((path) => path?.includes('/groups/')) ?? '');
    expect(callsOn(group)).toHaveLength(2);
    for (const text of ['Can change or delete things', 'Signed in as']) expect(group.html).toContain(text);
  });

  test('are never decided together with one of a high risk, of another person, or from another site', async () => {
    const { here, browser, open } = await entered();
    const ids = [await call(here), await call(here)];
    const high = await call(here, { risk: 'high' });
    const { row: ofBob } = await requestApproval(here.engine, OF_BOB, { tool: TOOL, risk: 'low' });
    const shown = await browser.open(pathsOn(await open()).find((path) => path?.includes('/groups/')) ?? '');
    const { action = '', fields = {} } = shown.forms.get('approve') ?? {};
    const both = [...Object.entries(fields), ['call', ids[0]], ['call', high]] as [string, string][];
    const crossSite = { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' } };
    for (const refused of [
      await browser.postAll(action, both),
      await browser.post(action, { ...fields, csrf: '', call: ids[0] ?? '' }),
      await browser.post(action, { ...fields, call: ids[0] ?? '' }, crossSite),
    ])
      expect([refused.status, refused.heading]).toEqual([403, SAYS.refused]);
    expect((await browser.post(action, { ...fields, call: ofBob.id })).heading).toBe(PARTLY);
    const stranger = createTestBrowser(here);
    expect((await stranger.open(action.replace(/\/approve$/u, ''))).forms.has('sign-in')).toBe(true);
    for (const id of [...ids, high]) expect(await statusOf(here, id)).toBe('pending');
    expect((await here.engine.approvals.read({ kind: 'user', ...BOB }, ofBob.id)).row.status).toBe('pending');
  });
});
