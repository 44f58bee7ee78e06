import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { findCanary } from '../../harness/canary.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { SIZE } from '../../harness/load/size.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { READER } from '../../harness/redis/shipped-users.ts';
import { readable, type SlackPerson } from '../../harness/slack/person.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { approvals } from './approvals.ts';
import { APP, type SlackDeployment, startSlackDeployment } from './deployment.ts';
import { openInboxPage } from './inbox-page.ts';
import { installations } from './installations.ts';
import { tasks } from './tasks.ts';

let deployment: SlackDeployment;
let world: SlackDeployment['world'];
let slack: SlackDeployment['slack'];
let linked: SlackDeployment['linked'];
let inThread: SlackDeployment['inThread'];
/** Asked at the beginning, and left without an answer. */
let expiring: { readonly thread: string; readonly person: SlackPerson };
let reminded: { readonly person: SlackPerson; readonly quiet: SlackPerson };

beforeAll(async () => {
  deployment = await startSlackDeployment();
  ({ world, slack, linked, inThread } = deployment);
  await deployment.install('T1');
  const { person } = await linked('U90');
  expiring = { person, thread: (await person.say('ask')).thread };
  const [one, other] = [await linked('U91'), await linked('U92')];
  await one.web.say('choose', { agent: 'notifier', supports: 'none' });
  await other.web.say('choose', { agent: 'quiet', supports: 'none' });
  reminded = { person: one.person, quiet: other.person };
});
afterAll(() => deployment?.stop());

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
    // While it is written, it has a button.
    await person.sees(thread, /^(?!.*parley_stop).*You said anything\./s);
    expect(inThread(thread, /./)).toHaveLength(1);
  });

  it('has a person connect an account, and continues in the same thread', async () => {
    const { person, web } = await linked('U2');
    const { thread } = await person.say('file Lamp');
    await web.connect({ url: addressOf(readable(await person.sees(thread, 'parley_link'))) } as never);
    await person.sees(thread, 'Created Lamp.');
    expect(readable(await person.sees(thread, 'Done by <@U2>'))).not.toContain('"button"');
  });

  it('shows the address of a question in a channel to the person asked alone, who connects an account there', async () => {
    const { person, web } = await linked('U20');
    const { person: other } = await linked('U21');
    const { thread } = await person.say('file Chair', { channel: 'C5' });
    const prompt = await person.sees(thread, 'parley_show');
    expect(readable(prompt)).not.toContain('http');
    const shown = await waitUntil(() => slack.ephemerals.find(({ channel }) => channel === 'C5'), {
      what: 'the address',
    });
    expect(shown.user).toBe('U20');
    expect(await other.pressAndRead(prompt, 'parley_show')).toContain('Only the person who was asked');
    const url = addressOf(await person.pressAndRead(prompt, 'parley_show'));
    expect(readable(shown)).toContain(url);
    await web.connect({ url } as never);
    await person.sees(thread, 'Created Chair.');
    await person.sees(thread, 'Done by <@U20>');
  });

  it('takes one choice by a button, and refuses everybody else', async () => {
    const { person } = await linked('U3');
    const { person: other } = await linked('U4');
    const { thread, channel } = await person.say('choose', { channel: 'C1' });
    const question = await person.sees(thread, 'parley_choice_0');
    expect(await other.pressAndRead(question, 'parley_choice_0')).toContain('Only the person who was asked');
    expect((await deployment.inSlack('U5').press(question, 'parley_decline')).status).toBe(200);
    expect((await person.press(question, 'parley_choice_1')).status).toBe(200);
    await person.sees(thread, 'Answered by <@U3> in Slack');
    await person.sees(thread, 'Thank you.');
    // Both may talk in one thread: each has a conversation of their own.
    await other.say('anything', { channel, thread });
    await person.sees(thread, 'You said anything.');
    expect(await person.pressAndRead(question, 'parley_choice_0')).toContain('This question is over.');
  });

  it('takes an answer that is typed into the thread, and names the buttons of what is open otherwise', async () => {
    const { person } = await linked('U24');
    const { thread } = await person.say('ask');
    await person.sees(thread, 'Which colour');
    await person.say('Blue', { thread });
    await person.sees(thread, 'Answered by <@U24> in Slack');
    await person.sees(thread, 'Thank you.');
    const filling = await person.say('fill');
    await person.sees(filling.thread, 'parley_open');
    await person.say('Ada, three of them', filling);
    await person.sees(filling.thread, 'use *Answer* or *Decline*');
  });

  it('takes a form by a modal, with errors at its fields, and offers it again after its trigger ran out', async () => {
    const { person } = await linked('U6');
    const { thread } = await person.say('fill');
    const question = await person.sees(thread, 'parley_open');
    expect(await person.pressAndRead(question, 'parley_open', 5_000)).toContain('Open it again');
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
    const response = { action: 'accept', content: { answer: 's' } };
    const answered = await web.post(`/v1/elicitations/${idOf(question)}/response`, response);
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

  approvals(() => deployment);
  tasks(() => deployment);

  it('brings a question that was asked in the web, and settles it there by an answer in Slack', async () => {
    const { person, web } = await linked('U10');
    const watched = await web.say('choose', { agent: 'notifier', supports: 'none' });
    const shownIn = () =>
      slack.messages.find((one) => one.channel === person.channel && /Which size/.test(readable(one)));
    const notice = await waitUntil(shownIn, { what: 'the notice' });
    expect((await person.press(notice, 'parley_choice_1')).status).toBe(200);
    expect(JSON.stringify((await watched.done)?.parts)).toContain('Thank you.');
    await waitUntil(() => readable(shownIn() ?? notice).includes('Answered by <@U10> in Slack'), {
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
    await waitUntil(() => /Answered/.test(readable(shown() as never)), { what: 'the edit' });
    expect(await person.pressAndRead(notice, 'parley_choice_1')).toContain('This question is over.');
  });

  it('takes a message and an answer over Socket Mode, once each although connections end before the acknowledgement', async () => {
    await linked('U16');
    const person = deployment.inSlack('U16', 'T1', 'T1', undefined, true);
    const cut: string[] = [];
    slack.sockets.endsAfter = ({ type }) => {
      const isFirst = !cut.includes(String(type));
      if (isFirst) cut.push(String(type));
      return isFirst;
    };
    const { thread } = await person.say('choose');
    const question = await person.sees(thread, 'parley_choice_0');
    // The person is shown that it failed, and presses again.
    expect((await person.press(question, 'parley_choice_0')).status).toBe(0);
    slack.sockets.endsAfter = undefined;
    expect((await person.press(question, 'parley_choice_1')).status).toBe(200);
    await person.sees(thread, 'Answered by <@U16> in Slack');
    await person.sees(thread, /^(?!.*parley_stop).*Thank you\./s);
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

  it('loses and doubles nothing while Slack is unavailable', async () => {
    const { person, web } = await linked('U8');
    const { thread } = await person.say('choose');
    const question = await person.sees(thread, 'parley_choice_0');
    const before = world.model.requests.length;
    slack.setDown(true);
    await web.post(`/v1/elicitations/${idOf(question)}/response`, {
      action: 'accept',
      content: { answer: 's' },
    });
    // The turn continues in the meantime.
    await waitUntil(() => world.model.requests.length > before, { what: 'the next step of the turn' });
    await new Promise((resolve) => setTimeout(resolve, SIZE.full ? 60_000 : 500));
    slack.setDown(false);
    await person.sees(thread, 'Answered by <@U8>');
    await person.sees(thread, 'Thank you.');
    expect(slack.messages.filter((one) => one.thread_ts === thread)).toHaveLength(3);
  });

  installations(() => deployment);

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
    const shownIn = () =>
      slack.messages.find((one) => one.channel === person.channel && /Which size/.test(readable(one)));
    const notice = shownIn();
    expect(reminder).toMatchObject({ channel: person.channel, thread_ts: notice?.ts });
    expect(escalation?.channel).toBe('C0TEAM');
    expect(readable(escalation as never)).not.toContain('Which size');
    expect(slack.messages.some((one) => one.channel === quiet.channel && /size/.test(readable(one)))).toBe(
      false,
    );
    await person.press(notice as never, 'parley_choice_0');
    await waitUntil(() => /Answered by <@U91> in Slack/.test(readable(shownIn() as never)), {
      what: 'the edit',
    });
    expect([sent(/<@U91>, this question/), sent(/<@U91> has not/)].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
  });

  it('has a question and an approval edited by another pod when those that edit die between the commit and the edit', async () => {
    const { person } = await linked('U9');
    const asking = await person.say('choose');
    const question = await person.sees(asking.thread, 'parley_choice_0');
    const calling = await person.say('echo Once');
    const card = await person.sees(calling.thread, 'parley_approve');
    const killed = deployment.killThoseThatEdit([question.ts, card.ts]);
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

const addressOf = (text: string) => /"url":"([^"]+)"/.exec(text)?.[1] ?? '';
const idOf = (question: Parameters<typeof readable>[0]) =>
  /"value":"(el_[^"]+)"/.exec(readable(question))?.[1] ?? '';

function nonEmpty<T>(items: T[]): T[] | undefined {
  return items.length > 0 ? items : undefined;
}
