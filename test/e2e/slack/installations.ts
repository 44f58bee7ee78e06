import { describe, expect, it } from 'vitest';
import { createTestBrowser } from '../../harness/pages/browser.ts';
import { signatureOf } from '../../harness/slack/slack.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { meet } from '../connect/person.ts';
import { APP, type SlackDeployment } from './deployment.ts';

/** Who may talk to the app: signatures, installations and linked accounts, over three pods. */
export function installations(the: () => SlackDeployment): void {
  describe('signatures, installations and linked accounts', () => {
    it('refuses wrong signers, replays, old requests, and workspaces without the app', async () => {
      const { slack, world, inSlack } = the();
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
      const ofAnother = await inSlack('U1', 'T9', 'T1').say('anything', { channel: 'C1' });
      expect(ofAnother.status).toBe(200);
      const { thread } = await inSlack('U77').say('anything', { channel: 'C1' });
      await waitUntil(() => slack.ephemerals.some(({ user }) => user === 'U77'), { what: 'the link' });
      expect(
        slack.messages.some((one) => one.thread_ts === ofAnother.thread || one.thread_ts === thread),
      ).toBe(false);
      expect(slack.ephemerals.some(({ user }) => user === 'U1')).toBe(false);
    });

    it('links nobody whose browser is signed in to another Slack account', async () => {
      const { slack, world, inSlack, addressIn } = the();
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

    it('renews a token that is about to expire once, over all pods, and keeps the new one', async () => {
      const { slack, install, inSlack, linked } = the();
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
      const { install, inSlack, linked } = the();
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
      const { install, linked } = the();
      await install('T2');
      const { person } = await linked('U22', 'T2');
      expect(await person.event({ type: 'app_uninstalled' })).toBe(200);
      expect((await person.say('hello')).status).toBe(403);
      await install('T2');
      const { thread } = await person.say('anything');
      await person.sees(thread, 'Connect your account');
    });
  });
}
