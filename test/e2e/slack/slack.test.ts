import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { launchChromium } from '../../../infra/demo/chromium.ts';
import { findCanary } from '../../harness/canary.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { READER } from '../../harness/redis/shipped-users.ts';
import { createSlackPerson, readable, type SlackPerson } from '../../harness/slack/person.ts';
import { type SlackStandIn, signatureOf, startSlack } from '../../harness/slack/slack.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createTestBrowser } from '../../integration/connect/browser.ts';
import { SIZE } from '../../load/size.ts';
import { meet } from '../connect/person.ts';
import { startWorld, type World } from '../connect/world.ts';
import { openInboxPage } from './inbox-page.ts';

vi.setConfig({ testTimeout: 120_000 * SIZE.patience });

const APP = {
  clientId: 'slack-app',
  clientSecret: 'slack-client-secret',
  signingSecret: 'slack-signing-secret',
  appToken: 'xapp-1-A1-1-a',
};

let world: World;
let slack: SlackStandIn;
/** Asked at the beginning, and left without an answer. */
let expiring: { readonly thread: string; readonly person: SlackPerson };
let reminded: { readonly person: SlackPerson; readonly quiet: SlackPerson };

beforeAll(async () => {
  slack = await startSlack(APP);
  world = await startWorld({
    hasUsers: true,
    more: () => ({
      PARLEY_SLACK_CLIENT_ID: APP.clientId,
      PARLEY_SLACK_CLIENT_SECRET: APP.clientSecret,
      PARLEY_SLACK_SIGNING_SECRET: APP.signingSecret,
      PARLEY_SLACK_APP_TOKEN: APP.appToken,
      PARLEY_SLACK_URL: slack.url,
      PARLEY_SLACK_AGENT: 'brisk',
      PARLEY_OUTBOX_MS: '200',
      PARLEY_SWEEP_MS: '500',
      // Many requests come from one address.
      PARLEY_LIMIT_CONNECT_FORMS: '100000',
      PARLEY_LIMIT_CONNECT_FAILURES: '100000',
    }),
  });
  await install('T1');
  const { person } = await linked('U90');
  expiring = { person, thread: (await person.say('ask')).thread };
  const [one, other] = [await linked('U91'), await linked('U92')];
  await one.web.say('choose', { agent: 'notifier', supports: 'none' });
  await other.web.say('choose', { agent: 'quiet', supports: 'none' });
  reminded = { person: one.person, quiet: other.person };
});
afterAll(async () => {
  await world?.stop();
  await slack?.stop();
});

/** Goes through the installation as an administrator's browser does. */
async function install(team: string, enterprise?: string): Promise<string> {
  slack.signedIn = { team, user: 'UADMIN', ...(enterprise !== undefined && { enterprise }) };
  const first = await fetch(`${world.url}/slack/install`, { redirect: 'manual' });
  const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const back = await fetch(first.headers.get('location') ?? '', { redirect: 'manual' });
  const last = await fetch(back.headers.get('location') ?? '', { headers: { cookie } });
  return last.text();
}

function inSlack(
  user: string,
  team = 'T1',
  installedIn = team,
  enterprise?: string,
  isSocketMode = false,
): SlackPerson {
  return createSlackPerson(
    { slack, url: world.url, signingSecret: APP.signingSecret, isSocketMode },
    { team, user, installedIn, ...(enterprise !== undefined && { enterprise }) },
  );
}

/** A person in Slack, linked to a person of the deployment in a browser that is signed in to both. */
async function linked(user: string, team = 'T1', enterprise?: string) {
  const person = inSlack(user, team, team, enterprise);
  const web = await meet(world);
  await person.say('hello');
  const url = await waitUntil(() => addressIn(person.channel), { what: 'the link' });
  await web.browser.enter(url, web.userId);
  slack.signedIn = { team, user };
  const shown = await web.browser.submit(await web.browser.open(url), 'start');
  const back = await fetch(shown.link ?? '', { redirect: 'manual' });
  const done = await web.browser.open(back.headers.get('location') ?? '');
  expect(done.heading).toContain('Slack is connected');
  return { person, web };
}

function inThread(thread: string, text: RegExp) {
  return slack.messages.filter((one) => one.thread_ts === thread && text.test(readable(one)));
}

/** Kills the pods from which the first edits of these messages come, once all have come and before any is made. Returns how many. */
function killThoseThatEdit(messages: readonly string[]): Promise<number> {
  const editors = new Map<string, number>();
  return new Promise((resolve) => {
    slack.onCall = async (method, from, { ts }) => {
      if (method !== 'chat.update' || !messages.includes(String(ts))) return;
      editors.set(String(ts), from);
      await waitUntil(() => editors.size === messages.length, { what: 'the other edits' });
      if (slack.onCall === undefined) return;
      slack.onCall = undefined;
      const ports = [...editors.values()];
      const victims = world.pods.filter(({ pid }) => ports.some((port) => holdsPort(pid, port)));
      slack.setDown(true);
      for (const victim of victims) victim.kill('SIGKILL');
      await Promise.all(victims.map(({ exited }) => exited));
      slack.setDown(false);
      resolve(victims.length);
    };
  });
}

/** True when the process has a connection from this local port. */
function holdsPort(pid: number, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const inodes = lines.flatMap((line) => {
    const [, local = '', , , , , , , , inode = ''] = line.trim().split(/\s+/);
    return local.endsWith(`:${hex}`) ? [`socket:[${inode}]`] : [];
  });
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}

function addressIn(channel: string): string | undefined {
  const texts = slack.messages.filter((one) => one.channel === channel).map(readable);
  return /"url":"([^"]*\/auth\/link\/[^"]*)"/.exec(texts.join(' '))?.[1];
}

await describeInChromium('the widget beside Slack, over three pods', (chromium) => {
  it('settles the question of a message in the browser, and shows there what was answered in Slack', async () => {
    const { person, web } = await linked('U17');
    const browser = await launchChromium(chromium);
    onTestFinished(() => browser.close());
    const page = await openInboxPage(browser, world.url, web.token);
    const inWidget = await person.say('choose');
    await person.sees(inWidget.thread, 'parley_choice_0');
    const closedLine = page.locator('button[aria-expanded=false]');
    await closedLine.click();
    await page.getByRole('radio', { name: 'Large' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    const settled = await person.sees(inWidget.thread, 'Answered by <@U17> in another application');
    expect(readable(settled)).not.toContain('"button"');
    await person.sees(inWidget.thread, 'Thank you.');
    const inSlack = await person.say('choose');
    const question = await person.sees(inSlack.thread, 'parley_choice_0');
    await closedLine.click();
    await page.getByRole('radio', { name: 'Large' }).waitFor();
    await person.press(question, 'parley_choice_0');
    await page.getByText('This was answered somewhere else.').first().waitFor();
    await person.sees(inSlack.thread, 'Thank you.');
  });
});

describe('the app in Slack, over three pods', () => {
  it('answers a person who has linked their account, in the thread, once for an event that comes twice', async () => {
    const { person } = await linked('U1');
    const { thread } = await person.say('anything', { id: 'EvTwice' });
    await person.say('anything', { id: 'EvTwice', thread });
    await person.sees(thread, 'You said anything.');
    const replies = slack.messages.filter((one) => one.thread_ts === thread);
    expect(replies).toHaveLength(1);
    expect(readable(replies[0] as never)).not.toContain('parley_stop');
  });

  it('has a person connect an account, and continues in the same thread', async () => {
    const { person, web } = await linked('U2');
    const { thread } = await person.say('file Lamp');
    const prompt = await person.sees(thread, 'parley_link');
    const url = /"url":"([^"]+)"/.exec(readable(prompt))?.[1] ?? '';
    await web.connect({ url } as never);
    await person.sees(thread, 'Created Lamp.');
    expect(readable(await person.sees(thread, 'Done by <@U2>'))).not.toContain('"button"');
  });

  it('shows the address of a question in a channel to the person asked alone, who connects an account there', async () => {
    const { person, web } = await linked('U20');
    const { person: other } = await linked('U21');
    const { thread } = await person.say('file Chair', { channel: 'C5' });
    const prompt = structuredClone(await person.sees(thread, 'parley_show'));
    expect(readable(prompt)).not.toContain('http');
    const shown = await waitUntil(() => slack.ephemerals.find(({ channel }) => channel === 'C5'), {
      what: 'the address',
    });
    expect(shown.user).toBe('U20');
    const refused = await other.press(prompt, 'parley_show');
    await waitUntil(() => refused.told(), { what: 'the refusal' });
    expect(JSON.stringify(refused.told())).toContain('Only the person who was asked');
    const again = await person.press(prompt, 'parley_show');
    const url = /"url":"([^"]+)"/.exec(
      JSON.stringify(await waitUntil(() => again.told(), { what: 'the address' })),
    );
    expect(readable(shown)).toContain(url?.[1]);
    await web.connect({ url: url?.[1] } as never);
    await person.sees(thread, 'Created Chair.');
    await person.sees(thread, 'Done by <@U20>');
  });

  it('takes one choice by a button, and refuses everybody else', async () => {
    const { person } = await linked('U3');
    const { person: other } = await linked('U4');
    const { thread, channel } = await person.say('choose', { channel: 'C1' });
    const question = structuredClone(await person.sees(thread, 'parley_choice_0'));
    const refused = await other.press(question, 'parley_choice_0');
    await waitUntil(() => refused.told(), { what: 'the refusal' });
    expect(JSON.stringify(refused.told())).toContain('Only the person who was asked');
    expect((await inSlack('U5').press(question, 'parley_decline')).status).toBe(200);
    expect((await person.press(question, 'parley_choice_1')).status).toBe(200);
    await person.sees(thread, 'Answered by <@U3> in Slack');
    await person.sees(thread, 'Thank you.');
    // Both may talk in one thread: each has a conversation of their own.
    await other.say('anything', { channel, thread });
    await person.sees(thread, 'You said anything.');
    const late = await person.press(question, 'parley_choice_0');
    await waitUntil(() => late.told(), { what: 'the refusal' });
    expect(JSON.stringify(late.told())).toContain('This question is over.');
  });

  it('takes a form by a modal, with errors at its fields, and offers it again after its trigger ran out', async () => {
    const { person } = await linked('U6');
    const { thread } = await person.say('fill');
    const question = await person.sees(thread, 'parley_open');
    const late = await person.press(question, 'parley_open', 5_000);
    await waitUntil(() => late.told(), { what: 'another offer' });
    expect(JSON.stringify(late.told())).toContain('Open it again');
    await person.press(question, 'parley_open');
    const view = await waitUntil(() => person.view(), { what: 'the form' });
    const wrong = await person.submit(view, [{ value: 'x' }, { value: '12' }, { value: 'a@b.example' }]);
    expect(wrong.body).toMatchObject({
      response_action: 'errors',
      errors: { field_0: expect.any(String), field_1: expect.any(String) },
    });
    expect(await person.submit(view, [{ value: 'Ada' }, { value: '3' }, {}])).toMatchObject({
      status: 200,
      body: undefined,
    });
    await person.sees(thread, 'Answered by <@U6> in Slack');
    await person.sees(thread, 'Thank you.');
  });

  it('shows an answer that was given elsewhere, a decline, and a stop', async () => {
    const { person, web } = await linked('U7');
    const { thread } = await person.say('choose');
    const question = await person.sees(thread, 'parley_choice_0');
    const statuses = () => slack.statuses.filter(({ channel }) => channel === person.channel);
    await waitUntil(() => statuses().at(-1)?.status === '', { what: 'the end of the status' });
    expect(statuses()[0]?.status).toBe('is working…');
    const id = /"value":"(el_[^"]+)"/.exec(readable(question))?.[1] ?? '';
    const answered = await web.post(`/v1/elicitations/${id}/response`, {
      action: 'accept',
      content: { answer: 's' },
    });
    expect(answered.status).toBe(200);
    await person.sees(thread, 'Answered by <@U7> in another application');
    await person.sees(thread, 'Thank you.');
    const declining = await person.say('choose');
    await person.press(await person.sees(declining.thread, 'parley_choice_0'), 'parley_decline');
    await person.sees(declining.thread, 'Declined by <@U7> in Slack');
    const stopping = await person.say('choose');
    await person.sees(stopping.thread, 'parley_choice_0');
    await person.press(await person.sees(stopping.thread, 'parley_stop'), 'parley_stop');
    await person.sees(stopping.thread, '*Stopped*');
    await person.sees(stopping.thread, '_Stopped._');
  });

  it('has a call approved by the person asked alone, as it is or edited in a modal with errors at its inputs', async () => {
    const { person } = await linked('U11');
    const { person: other } = await linked('U12');
    const { thread, channel } = await person.say('echo Hello', { channel: 'C2' });
    const inChannel = structuredClone(await person.sees(thread, 'parley_call'));
    expect(readable(inChannel)).not.toContain('Hello');
    const refused = await other.press(inChannel, 'parley_call');
    await waitUntil(() => refused.told(), { what: 'the refusal' });
    expect(JSON.stringify(refused.told())).toContain('Only the person who was asked');
    const shown = await person.press(inChannel, 'parley_call');
    const card = await waitUntil(() => shown.told(), { what: 'the call' });
    expect(JSON.stringify(card)).toContain('Hello');
    const own = { blocks: card.blocks as never, channel, isEphemeral: true };
    const late = await person.press(own, 'parley_edit', 5_000);
    const offer = await waitUntil(() => late.told(), { what: 'another offer' });
    await person.press({ blocks: offer.blocks as never, channel }, 'parley_edit');
    const view = await waitUntil(() => person.view(), { what: 'the arguments' });
    expect(JSON.stringify(view.view)).toContain('Hello');
    expect((await person.submit(view, [{ value: '' }])).body).toMatchObject({
      response_action: 'errors',
      errors: { field_0: expect.any(String) },
    });
    expect((await other.submit(view, [{ value: 'Stolen' }])).body).toMatchObject({
      response_action: 'update',
    });
    expect(await person.submit(view, [{ value: 'Goodbye' }])).toMatchObject({ status: 200, body: undefined });
    await person.sees(thread, 'Approved with other arguments by <@U11> in Slack');
    const reply = readable(await person.sees(thread, /word-39/));
    expect(reply).toContain('Goodbye');
    expect(reply).not.toContain('Hello');
    const again = await person.press(own, 'parley_approve');
    await waitUntil(() => again.told(), { what: 'the refusal' });
    expect(JSON.stringify(again.told())).toContain('This approval is over.');
  });

  it('shows a denial with its reason, a decision that was made elsewhere, a stop, and asks no more once it is remembered', async () => {
    const { person, web } = await linked('U13');
    const asked = async (text: string, thread?: string) => {
      const said = await person.say(text, thread === undefined ? {} : { thread });
      const find = () =>
        slack.messages.findLast(
          (one) => one.thread_ts === said.thread && /parley_approve/.test(readable(one)),
        );
      return { ...said, card: structuredClone(await waitUntil(find, { what: 'the approval' })) };
    };
    const denied = await asked('echo One');
    await person.press(denied.card, 'parley_deny');
    const view = await waitUntil(() => person.view(), { what: 'the reason' });
    expect((await person.submit(view, [{ value: 'Not today' }])).status).toBe(200);
    expect(readable(await person.sees(denied.thread, 'Denied by <@U13> in Slack'))).toContain('Not today');
    await person.sees(denied.thread, 'Their reason: Not today');
    const elsewhere = await asked('echo Two');
    const id = /"value":"(ap_[^"]+)"/.exec(readable(elsewhere.card))?.[1] ?? '';
    expect((await web.post(`/v1/approvals/${id}/response`, { decision: 'approve' })).status).toBe(200);
    await person.sees(elsewhere.thread, 'Approved by <@U13> in another application');
    await person.sees(elsewhere.thread, /Two .*word-39/);
    const stopping = await asked('echo Three');
    await person.press(await person.sees(stopping.thread, 'parley_stop'), 'parley_stop');
    expect(readable(await person.sees(stopping.thread, '*Stopped*'))).not.toContain('"button"');
    const remembered = await asked('echo Four');
    expect((await person.press(remembered.card, 'parley_remember')).status).toBe(200);
    await person.sees(remembered.thread, 'Approved for this conversation by <@U13> in Slack');
    await person.sees(remembered.thread, /Four .*word-39/);
    await person.say('echo Five', { thread: remembered.thread });
    await person.sees(remembered.thread, /Five .*word-39/);
  });

  it('has all calls of a step approved or denied at once, by the person asked alone', async () => {
    const { person } = await linked('U18');
    const { person: other } = await linked('U19');
    const { thread } = await person.say('pair Hello');
    const together = structuredClone(await person.sees(thread, 'parley_approve_all'));
    const refused = await other.press(together, 'parley_approve_all');
    await waitUntil(() => refused.told(), { what: 'the refusal' });
    expect(JSON.stringify(refused.told())).toContain('Only the person who was asked');
    expect((await person.press(together, 'parley_approve_all')).status).toBe(200);
    await person.sees(thread, /Hello.*Hello.*word-39/);
    await person.sees(thread, 'No call of this step is open any more.');
    expect(inThread(thread, /Approved by <@U18> in Slack/)).toHaveLength(2);
    const inChannel = await person.say('pair Bye', { channel: 'C3' });
    const named = await person.sees(inChannel.thread, 'parley_calls');
    expect(readable(named)).not.toContain('Bye');
    const shown = await person.press(named, 'parley_calls');
    const calls = await waitUntil(() => shown.told(), { what: 'the calls' });
    for (const text of ['Bye one', 'Bye two']) expect(JSON.stringify(calls)).toContain(text);
    await person.press({ blocks: calls.blocks as never, channel: 'C3' }, 'parley_deny_all');
    const view = await waitUntil(() => person.view(), { what: 'the reason' });
    expect(await other.submit(view, [{}])).toMatchObject({ body: { response_action: 'update' } });
    expect((await person.submit(view, [{ value: 'Not today' }])).body).toBeUndefined();
    await waitUntil(() => inThread(inChannel.thread, /Denied by <@U18> in Slack/).length === 2, {
      what: 'the edits',
    });
  });

  it('brings a question that was asked in the web, and settles it there by an answer in Slack', async () => {
    const { person, web } = await linked('U10');
    const watched = await web.say('choose', { agent: 'notifier', supports: 'none' });
    const shownIn = () =>
      slack.messages.find((one) => one.channel === person.channel && /Which size/.test(readable(one)));
    const notice = structuredClone(await waitUntil(shownIn, { what: 'the notice' }));
    expect((await person.press(notice, 'parley_choice_1')).status).toBe(200);
    expect(JSON.stringify((await watched.done)?.parts)).toContain('Thank you.');
    await waitUntil(() => readable(shownIn() ?? notice).includes('Answered by <@U10> in Slack'), {
      what: 'the edit',
    });
  });

  it('brings an approval that the client of the turn cannot show, and makes the call once it is approved in Slack', async () => {
    const { person, web } = await linked('U23');
    const reply = await fetch(`${world.url}/run/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: web.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'notifier',
        stream: true,
        messages: [{ role: 'user', content: 'echo Hello' }],
      }),
    });
    const shown = () =>
      slack.messages.find((one) => one.channel === person.channel && /Hello/.test(readable(one)));
    const notice = structuredClone(await waitUntil(shown, { what: 'the notice' }));
    expect((await person.press(notice, 'parley_approve')).status).toBe(200);
    expect(await reply.text()).toMatch(/word-39/);
    await waitUntil(() => readable(shown() ?? notice).includes('Approved by <@U23> in Slack'), {
      what: 'the edit',
    });
  });

  it('brings questions that a service asked over /v1, and shows that one was withdrawn', async () => {
    const { person, web } = await linked('U14');
    const service = { authorization: `Bearer ${world.secrets.service}`, 'content-type': 'application/json' };
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const ask = async (message: string) => {
      const asked = await fetch(`${world.url}/v1/elicitations`, {
        method: 'POST',
        headers: service,
        body: JSON.stringify({ userId: web.userId, mode: 'form', message, requestedSchema }),
      });
      return ((await asked.json()) as { elicitationId: string }).elicitationId;
    };
    const withdrawnId = await ask('Keep it?');
    const kept = () => slack.messages.find((one) => /Keep it/.test(readable(one)));
    await waitUntil(kept, { what: 'the notice' });
    await fetch(`${world.url}/v1/elicitations/${withdrawnId}`, { method: 'DELETE', headers: service });
    const hasEnded = () => /No longer needed/.test(readable(kept() as never));
    await waitUntil(hasEnded, { what: 'the edit' });
    expect(readable(kept() as never)).not.toContain('"button"');
    const elicitationId = await ask('Ship it?');
    const shown = () => slack.messages.find((one) => /Ship it/.test(readable(one)));
    const notice = await waitUntil(shown, { what: 'the notice' });
    expect(notice.channel).toBe(person.channel);
    expect((await person.press(notice, 'parley_choice_0')).status).toBe(200);
    const settled = await fetch(`${world.url}/v1/elicitations/${elicitationId}`, { headers: service });
    expect(await settled.json()).toMatchObject({ status: 'accepted', content: { ok: true } });
    const late = await person.press(notice, 'parley_choice_1');
    await waitUntil(() => late.told(), { what: 'the refusal' });
    expect(JSON.stringify(late.told())).toContain('This question is over.');
  });

  it('takes a message and an answer over Socket Mode, once each although connections end before the acknowledgement', async () => {
    await linked('U16');
    const person = inSlack('U16', 'T1', 'T1', undefined, true);
    const cut: string[] = [];
    slack.sockets.endsAfter = ({ type }) => {
      const isFirst = !cut.includes(String(type));
      if (isFirst) cut.push(String(type));
      return isFirst;
    };
    const { thread } = await person.say('choose');
    const question = structuredClone(await person.sees(thread, 'parley_choice_0'));
    // The person is shown that it failed, and presses again.
    expect((await person.press(question, 'parley_choice_0')).status).toBe(0);
    slack.sockets.endsAfter = undefined;
    expect((await person.press(question, 'parley_choice_1')).status).toBe(200);
    await person.sees(thread, 'Answered by <@U16> in Slack');
    await person.sees(thread, 'Thank you.');
    expect(cut).toEqual(['event_callback', 'block_actions']);
    expect(inThread(thread, /./)).toHaveLength(3);
    const forms = await person.say('fill', { thread });
    await person.press(await person.sees(forms.thread, 'parley_open'), 'parley_open');
    const view = await waitUntil(() => person.view(), { what: 'the form' });
    expect((await person.submit(view, [{ value: 'x' }, { value: '3' }, {}])).body).toMatchObject({
      response_action: 'errors',
    });
    expect((await person.submit(view, [{ value: 'Ada' }, { value: '3' }, {}])).body).toBeUndefined();
    await waitUntil(() => inThread(thread, /Thank you/).length === 2, { what: 'the reply' });
    // Every pod has its connection again.
    await waitUntil(() => slack.sockets.size() === world.pods.length, { what: 'the connections' });
  });

  it('loses and doubles nothing while Slack is away', async () => {
    const { person, web } = await linked('U8');
    const { thread } = await person.say('choose');
    const question = await person.sees(thread, 'parley_choice_0');
    const id = /"value":"(el_[^"]+)"/.exec(readable(question))?.[1] ?? '';
    const before = world.model.requests.length;
    slack.setDown(true);
    await web.post(`/v1/elicitations/${id}/response`, { action: 'accept', content: { answer: 's' } });
    // The turn continues meanwhile.
    await waitUntil(() => world.model.requests.length > before, { what: 'the next step of the turn' });
    await new Promise((resolve) => setTimeout(resolve, SIZE.full ? 60_000 : 500));
    slack.setDown(false);
    await person.sees(thread, 'Answered by <@U8>');
    await person.sees(thread, 'Thank you.');
    expect(slack.messages.filter((one) => one.thread_ts === thread)).toHaveLength(3);
  });

  it('refuses wrong signers, replays, old requests, and workspaces without the app', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    const send = (headers: Record<string, string>) =>
      fetch(`${world.url}/slack/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
    const right = signatureOf(APP.signingSecret, body);
    expect(await (await send(right)).json()).toEqual({ challenge: 'abc' });
    expect((await send(right)).status).toBe(401);
    expect((await send(signatureOf('another secret', body))).status).toBe(401);
    const now = Math.floor(Date.now() / 1_000);
    expect((await send(signatureOf(APP.signingSecret, body, now - 400))).status).toBe(401);
    expect((await send(signatureOf(APP.signingSecret, body, now + 400))).status).toBe(401);
    expect((await send({})).status).toBe(401);
    expect((await inSlack('U1', 'T9').say('anything')).status).toBe(403);
    // A person of another workspace in a shared channel is nobody here.
    const foreign = await inSlack('U1', 'T9', 'T1').say('anything', { channel: 'C1' });
    expect(foreign.status).toBe(200);
    const { thread } = await inSlack('U77').say('anything', { channel: 'C1' });
    await waitUntil(() => slack.ephemerals.some(({ user }) => user === 'U77'), { what: 'the link' });
    expect(slack.messages.some((one) => one.thread_ts === foreign.thread || one.thread_ts === thread)).toBe(
      false,
    );
    expect(slack.ephemerals.some(({ user }) => user === 'U1')).toBe(false);
  });

  it('links nobody whose browser is signed in to another Slack account', async () => {
    const attacker = inSlack('U66');
    await attacker.say('hello');
    const url = await waitUntil(() => addressIn(attacker.channel), { what: 'the link' });
    const victim = await meet(world);
    await victim.browser.enter(url, victim.userId);
    slack.signedIn = { team: 'T1', user: 'U67' };
    const shown = await victim.browser.submit(await victim.browser.open(url), 'start');
    const back = await fetch(shown.link ?? '', { redirect: 'manual' });
    const done = await victim.browser.open(back.headers.get('location') ?? '');
    expect(done.status).toBe(403);
    // Nor does the way back work in another browser.
    slack.signedIn = { team: 'T1', user: 'U66' };
    const again = await fetch(shown.link ?? '', { redirect: 'manual' });
    const stranger = createTestBrowser({ publicUrl: world.url });
    expect((await stranger.open(again.headers.get('location') ?? '')).status).toBe(410);
    const { thread } = await attacker.say('anything');
    await attacker.sees(thread, 'Connect your account');
  });

  it('shows that a question has expired, without buttons', async () => {
    const { person, thread } = expiring;
    const message = await person.sees(thread, '*Expired*');
    expect(readable(message)).not.toContain('"button"');
    expect(
      slack.messages.filter((one) => one.thread_ts === thread && /Which colour/.test(readable(one))),
    ).toHaveLength(1);
  });

  it('reminds and escalates once, and sends nothing in quiet hours', async () => {
    const { person, quiet } = reminded;
    const sent = (text: RegExp) => slack.messages.filter((one) => text.test(readable(one)));
    const [reminder] = await waitUntil(() => nonEmpty(sent(/<@U91>, this question is still open/)), {
      what: 'the reminder',
      timeoutMs: 60_000,
    });
    const [escalation] = await waitUntil(() => nonEmpty(sent(/<@U91> has not answered/)), {
      what: 'the escalation',
      timeoutMs: 60_000,
    });
    const notice = slack.messages.find(
      (one) => one.channel === person.channel && /Which size/.test(readable(one)),
    );
    expect(reminder).toMatchObject({ channel: person.channel, thread_ts: notice?.ts });
    expect(escalation?.channel).toBe('C0TEAM');
    expect(readable(escalation as never)).not.toContain('Which size');
    expect(slack.messages.some((one) => one.channel === quiet.channel && /size/.test(readable(one)))).toBe(
      false,
    );
    await person.press(notice as never, 'parley_choice_0');
    await waitUntil(() => /Answered by <@U91> in Slack/.test(readable(notice as never)), {
      what: 'the edit',
    });
    expect([sent(/<@U91>, this question/), sent(/<@U91> has not/)].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
  });

  it('renews a token that is about to expire once, over all pods, and keeps the new one', async () => {
    slack.tokenSeconds = 1;
    await install('T3');
    slack.tokenSeconds = 43_200;
    const installedAt = Date.now();
    await waitUntil(() => Date.now() > installedAt + 1_000, { what: 'the end of the token' });
    const people = await Promise.all(
      ['U31', 'U32', 'U33', 'U34'].map((user) => inSlack(user, 'T3').say('hello')),
    );
    expect(people.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { person } = await linked('U35', 'T3');
    await person.sees((await person.say('anything')).thread, 'You said anything.');
    expect(slack.renewed).toEqual(['T3']);
  });

  it('serves all workspaces of an enterprise by one installation, and forgets them with it', async () => {
    await install('T5', 'E1');
    for (const [user, team] of [
      ['U51', 'T5'],
      ['U61', 'T6'],
    ] as const) {
      const { person } = await linked(user, team, 'E1');
      const { thread } = await person.say('choose');
      await person.press(await person.sees(thread, 'parley_choice_0'), 'parley_choice_0');
      await person.sees(thread, `Answered by <@${user}> in Slack`);
    }
    // The same workspace without its enterprise, and another enterprise, have not installed it.
    expect((await inSlack('U51', 'T5').say('hello')).status).toBe(403);
    expect((await inSlack('U51', 'T5', 'T5', 'E2').say('hello')).status).toBe(403);
    const person = inSlack('U61', 'T6', 'T6', 'E1');
    expect(await person.event({ type: 'app_uninstalled' })).toBe(200);
    expect((await person.say('hello')).status).toBe(403);
    await install('T5', 'E1');
    const { thread } = await person.say('anything');
    await person.sees(thread, 'Connect your account');
  });

  it('forgets a workspace and its people when it is uninstalled', async () => {
    await install('T2');
    const { person } = await linked('U22', 'T2');
    expect(await person.event({ type: 'app_uninstalled' })).toBe(200);
    expect((await person.say('hello')).status).toBe(403);
    await install('T2');
    const { thread } = await person.say('anything');
    await person.sees(thread, 'Connect your account');
  });

  it('has a question and an approval edited by another pod when those that edit die between the commit and the edit', async () => {
    const { person } = await linked('U9');
    const asking = await person.say('choose');
    const question = structuredClone(await person.sees(asking.thread, 'parley_choice_0'));
    const calling = await person.say('echo Once');
    const card = structuredClone(await person.sees(calling.thread, 'parley_approve'));
    const killed = killThoseThatEdit([question.ts, card.ts]);
    await Promise.all([person.press(question, 'parley_choice_0'), person.press(card, 'parley_approve')]);
    expect(await killed).toBeGreaterThan(0);
    await person.sees(asking.thread, 'Answered by <@U9> in Slack');
    await person.sees(calling.thread, 'Approved by <@U9> in Slack');
    await person.sees(asking.thread, 'Thank you.');
    await person.sees(calling.thread, /Once .*word-39/);
    expect(inThread(asking.thread, /Which size/)).toHaveLength(1);
    expect(inThread(calling.thread, /wants to call/)).toHaveLength(1);
  });

  it('does all of it with the permissions of the shipped user of Redis, and with no secret of Slack in Redis, logs or spans', async () => {
    const logs = world.pods.flatMap((pod) => pod.lines);
    expect(logs.filter((line) => /NOPERM|ACL|permission/.test(line))).toEqual([]);
    const stored = await withRedis(world.redis.url.replace('//', `//${READER}:none@`), (redis) =>
      dumpRedis(redis),
    );
    expect(stored.join()).toContain('Workspace T1');
    const places = { stored, logs, spans: world.telemetry };
    const { clientSecret, signingSecret, appToken } = APP;
    const secrets = [clientSecret, signingSecret, appToken, ...slack.tokens.keys(), ...slack.codes.keys()];
    for (const secret of secrets)
      for (const [place, texts] of Object.entries(places))
        expect(findCanary(secret, texts), place).toEqual([]);
  });
});

function nonEmpty<T>(items: T[]): T[] | undefined {
  return items.length > 0 ? items : undefined;
}
