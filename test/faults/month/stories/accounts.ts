import assert from 'node:assert/strict';
import { createTestBrowser } from '../../../harness/pages/browser.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import { must, textOf, untilAsked } from '../client.ts';
import type { Row } from '../rows.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../times.ts';

const PERSON = 'ada';
/** The person comes back now and then, each time long after the access token has ended. */
const RETURNS = [2 * HOUR, 7 * HOUR, DAY, 5 * DAY, 14 * DAY];
const REMEMBERED = 7 * DAY;

/** Accounts of people, their sign-ins, and approvals that are remembered. */
export const ACCOUNT_STORIES: readonly Row[] = [
  {
    name: 'an account whose access tokens last an hour works for weeks, and is refreshed once for each use',
    documented: 'docs/connect.md (refreshes), docs/agents.md (accounts)',
    isDaily: true,
    lateness: 'none',
    async story({ client, clock, stage }) {
      const { accounts } = stage;
      const turn = await client.say(PERSON, 'connects', 'list');
      const id = await untilAsked(turn);
      const browser = createTestBrowser({ publicUrl: stage.pods[0]?.url ?? '' });
      await browser.connect(await browser.enter(`/auth/connect/${id}`, PERSON), PERSON);
      await waitUntil(() => turn.endedAt() !== undefined, { what: 'the connected turn' });
      assert.match(textOf(turn), /Got:.*The login page is slow/);
      const begunAt = Date.now();
      for (const [index, time] of RETURNS.entries()) {
        await clock.until(begunAt + time);
        assert.match(
          await client.chat(PERSON, `comes-back-${index}`, 'list'),
          /Got:.*The login page is slow/,
        );
        assert.equal(accounts.tokenCalls('refresh_token'), index + 1);
      }
      assert.deepEqual(accounts.reusedFamilies(), []);
      const token = await stage.issuer.token(PERSON);
      must(await client.call('DELETE', '/v1/accounts/tracker', { token }), 200);
      return `${RETURNS.length} uses over two weeks, ${RETURNS.length} refreshes, asked once`;
    },
  },
  {
    name: 'a sign-in on the hosted pages lasts an hour',
    documented: 'docs/security.md (the person who is signed in), docs/connect.md (cookie)',
    lateness: 'a minute',
    async story({ clock, stage }) {
      const browser = createTestBrowser({ publicUrl: stage.pods[0]?.url ?? '' });
      await browser.enter('/auth/accounts', 'visitor');
      const signedInAt = Date.now();
      const asksToSignIn = async () => (await browser.open('/auth/accounts')).forms.has('sign-in');
      await clock.until(signedInAt + HOUR - MINUTE);
      assert.equal(await asksToSignIn(), false);
      await clock.until(signedInAt + HOUR + MINUTE);
      assert.equal(await asksToSignIn(), true);
      return 'signed in after 59 minutes, asked to sign in after 61';
    },
  },
  {
    name: 'an approval is remembered for its seven days',
    documented: 'docs/approvals.md (remember: 7 days)',
    lateness: 'a minute',
    async story({ client, clock, stage }) {
      const decide = async (id: string, body: object) =>
        must(
          await client.call('POST', `/v1/approvals/${id}/response`, {
            token: await stage.issuer.token('boss'),
            body,
          }),
          200,
        );
      const first = await client.say('boss', 'one', 'echo one');
      await decide(await untilAsked(first, 'approval'), { decision: 'approve', remember: true });
      const decidedAt = Date.now();
      await waitUntil(() => first.endedAt() !== undefined, { what: 'the approved turn' });
      await clock.until(decidedAt + REMEMBERED - MINUTE);
      assert.match(await client.chat('boss', 'two', 'echo two'), /Got:.*echo two/);
      await clock.until(decidedAt + REMEMBERED + MINUTE);
      const third = await client.say('boss', 'three', 'echo three');
      await decide(await untilAsked(third, 'approval'), { decision: 'deny' });
      await waitUntil(() => third.endedAt() !== undefined, { what: 'the denied turn' });
      await clock.until(after(SECOND));
      return 'not asked a minute before the end of the seventh day, asked a minute after it';
    },
  },
];
