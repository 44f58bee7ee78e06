import assert from 'node:assert/strict';
import { createTestBrowser } from '../../../harness/pages/browser.ts';
import { createSlackPerson, readable, type SlackPerson } from '../../../harness/slack/person.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import { must } from '../client.ts';
import type { Row, World } from '../rows.ts';
import { SLACK_APP } from '../settings.ts';
import { DAY, HOUR, MINUTE } from '../times.ts';

const TEAM = 'T1';
const USER = 'U1';
const PERSON = 'linked';
const TOKEN = 12 * HOUR;

/** Installs the app, and links a person of Slack to a person of the deployment. */
async function link({ stage: { slack, pods } }: World): Promise<SlackPerson> {
  const url = pods[0]?.url ?? '';
  slack.signedIn = { team: TEAM, user: 'UADMIN' };
  const first = await fetch(`${url}/slack/install`, { redirect: 'manual' });
  const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const back = await fetch(first.headers.get('location') ?? '', { redirect: 'manual' });
  await fetch(back.headers.get('location') ?? '', { headers: { cookie } });
  slack.signedIn = { team: TEAM, user: USER };
  const { signingSecret } = SLACK_APP;
  const person = createSlackPerson({ slack, url, signingSecret }, { team: TEAM, user: USER });
  await person.say('hello');
  const find = () => /"url":"([^"]*\/auth\/link\/[^"]*)"/.exec(slack.messages.map(readable).join(' '))?.[1];
  const address = await waitUntil(find, { what: 'the link' });
  const browser = createTestBrowser({ publicUrl: url });
  await browser.enter(address, PERSON);
  const shown = await browser.submit(await browser.open(address), 'start');
  const returned = await fetch(shown.link ?? '', { redirect: 'manual' });
  assert.match((await browser.open(returned.headers.get('location') ?? '')).heading, /Slack is connected/);
  return person;
}

/** What Slack's tokens and the times of notices have to do with days. */
export const SLACK_STORIES: readonly Row[] = [
  {
    name: 'Slack notifies after an hour and reminds after a day and two, with tokens of twelve hours',
    documented: 'docs/slack.md (Notices, rotation of tokens), docs/agents.md (notify)',
    lateness: 'a minute',
    async story(world) {
      const { client, clock, stage } = world;
      const { channel, event } = await link(world);
      const told = (text: RegExp) =>
        stage.slack.messages.filter((one) => one.channel === channel && text.test(readable(one))).length;
      // A client that shows no questions: they reach the person in Slack only.
      await client.say(PERSON, 'noticed', 'ask', { agent: 'notifier', supports: '' });
      const listOpen = async () =>
        must(await client.call('GET', `/v1/elicitations?status=pending&userId=${PERSON}`), 200).body
          .elicitations as { elicitationId: string }[];
      const [open] = await waitUntil(async () => ((await listOpen()).length > 0 ? listOpen() : undefined), {
        what: 'the question',
      });
      const askedAt = Date.now();
      const counts = () => [told(/Which colour/), told(/still open/)];
      for (const [time, notices, reminders] of [
        [HOUR, 1, 0],
        [HOUR + DAY, 1, 1],
        [HOUR + 2 * DAY, 1, 2],
      ] as const) {
        await clock.until(askedAt + time - MINUTE);
        assert.notDeepEqual(counts(), [notices, reminders], 'early');
        await clock.until(askedAt + time + MINUTE);
        assert.deepEqual(counts(), [notices, reminders]);
      }
      assert.ok(stage.slack.renewed.length >= 2, `${stage.slack.renewed.length} renewals`);
      assert.ok(stage.slack.renewed.length <= Math.ceil((2 * DAY) / TOKEN) + 1);
      const body = { action: 'accept', content: { answer: 'blue' } };
      const token = await stage.issuer.token(PERSON);
      must(
        await client.call('POST', `/v1/elicitations/${open?.elicitationId}/response`, { token, body }),
        200,
      );
      await clock.until(Date.now() + 3 * DAY);
      assert.deepEqual(counts(), [1, 2]);
      assert.equal(await event({ type: 'app_uninstalled' }), 200);
      return `a notice, two reminders, ${stage.slack.renewed.length} renewals of the token`;
    },
  },
];
