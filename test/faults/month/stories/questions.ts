import assert from 'node:assert/strict';
import { createTestBrowser } from '../../../harness/pages/browser.ts';
import { must } from '../client.ts';
import type { Row } from '../rows.ts';
import { after, DAY, HOUR, MINUTE, SECOND, WEEK } from '../times.ts';

const RETENTION = DAY;
const LINK = 15 * MINUTE;

/** Questions of a service, and how long what is left of them stays. */
export const QUESTION_STORIES: readonly Row[] = [
  {
    name: 'a question of a week is answered on its sixth day, and leaves a day after its end',
    documented: 'docs/http-api.md (timeoutSeconds), docs/security.md (question and answer)',
    isDaily: true,
    lateness: 'none for the answer; a second for the end of the retention',
    async story({ client, clock }) {
      const id = await client.ask('week', { timeoutSeconds: WEEK / SECOND });
      await clock.until(after(6 * DAY));
      assert.equal((await client.read(id)).state, 'pending');
      const waiting = client.call('GET', `/v1/elicitations/${id}/wait?timeoutSeconds=30`);
      must(await client.answer('week', id), 200);
      const answeredAt = Date.now();
      assert.deepEqual(must(await waiting, 200).body.content, { word: 'blue' });
      await clock.until(answeredAt + RETENTION - MINUTE);
      assert.equal((await client.read(id)).state, 'accepted');
      await clock.until(answeredAt + RETENTION + SECOND);
      assert.equal((await client.read(id)).status, 404);
      return 'open on day 6, accepted, read until a day later, then 404';
    },
  },
  {
    name: 'a question that nobody answers expires at its deadline, not before',
    documented: 'docs/operations.md (ParleyExpiresLate), docs/configuration.md (PARLEY_GRACE_MS)',
    isDaily: true,
    lateness: '5 s',
    async story({ client, clock }) {
      const askedAt = Date.now();
      const id = await client.ask('silent', { timeoutSeconds: WEEK / SECOND });
      await clock.until(askedAt + WEEK - 30 * SECOND);
      assert.equal((await client.read(id)).state, 'pending');
      const waiting = client.call('GET', `/v1/elicitations/${id}/wait?timeoutSeconds=60`);
      await clock.until(askedAt + WEEK);
      const { body } = must(await waiting, 200);
      assert.equal(body.status, 'expired');
      const lateMs = Date.parse(String(body.settledAt)) - Date.parse(String(body.expiresAt));
      assert.ok(lateMs >= 0 && lateMs < 5 * SECOND, `${lateMs} ms late`);
      assert.equal((await client.answer('silent', id)).status, 410);
      return `pending half a minute before, expired ${lateMs} ms after its deadline`;
    },
  },
  {
    name: 'an idempotency key is known for the retention',
    documented: 'docs/redis.md (claim:idempotency)',
    lateness: 'a second',
    async story({ client, clock }) {
      const ask = () => client.ask('twice', { timeoutSeconds: 60 }, { 'idempotency-key': 'the-key' });
      const askedAt = Date.now();
      const first = await ask();
      await clock.until(askedAt + RETENTION - MINUTE);
      assert.equal(await ask(), first);
      await clock.until(Date.now() + RETENTION + MINUTE);
      assert.notEqual(await ask(), first);
      return 'the same question a minute before, another one a minute after';
    },
  },
  {
    name: 'a stream of events that nobody ends misses nothing in days',
    documented: 'docs/http-api.md (Events)',
    lateness: 'none',
    async story({ client, clock }) {
      const streamRequestId = 'stream-of-days';
      const ids = [await client.ask('days', { streamRequestId, timeoutSeconds: (3 * DAY) / SECOND })];
      const reader = await client.stream('GET', `/v1/streams/${streamRequestId}/events?userId=days`);
      for (let day = 0; day < 2; day += 1) {
        await clock.until(after(20 * HOUR));
        must(await client.answer('days', ids.at(-1) ?? ''), 200);
        ids.push(await client.ask('days', { streamRequestId, timeoutSeconds: (3 * DAY) / SECOND }));
      }
      await clock.until(after(MINUTE));
      const seen = reader.events.map(
        ({ name, data }) => `${name} ${ids.indexOf(String(data.elicitationId))}`,
      );
      const asked = (index: number) => `elicitation-request ${index}`;
      const ended = (index: number) => `elicitation-resolved ${index}`;
      assert.deepEqual(seen, [asked(0), ended(0), asked(1), ended(1), asked(2)]);
      assert.equal(reader.endedAt(), undefined);
      must(await client.call('DELETE', `/v1/elicitations/${ids.at(-1)}`), 200);
      return `${seen.length} events over 40 hours on one connection`;
    },
  },
  {
    name: 'an answer link opens until its end, and its browser has an hour more to answer',
    documented: 'docs/http-api.md (Answer links)',
    lateness: 'two seconds',
    async story({ client, clock, stage }) {
      const publicUrl = stage.pods[0]?.url ?? '';
      const links: { readonly id: string; readonly token: string }[] = [];
      for (const userId of ['mailed', 'late']) {
        const id = await client.ask(userId, { timeoutSeconds: DAY / SECOND });
        const made = await client.call('POST', `/v1/elicitations/${id}/answer-link`, {
          body: { expiresInSeconds: LINK / SECOND },
        });
        links.push({ id, token: new URL(String(must(made, 201).body.url)).hash.slice(1) });
      }
      const madeAt = Date.now();
      const [mailed, late] = links;
      const browser = createTestBrowser({ publicUrl });
      const open = async (link: (typeof links)[number] | undefined, by = browser) =>
        by.submit(await by.open(`/auth/answer/${link?.id}`), 'open', { token: link?.token ?? '' });
      await clock.until(madeAt + LINK - MINUTE);
      const question = await open(mailed);
      assert.ok(question.forms.has('accept'), question.heading);
      const openedAt = Date.now();
      await clock.until(madeAt + LINK + 2 * SECOND);
      const refused = await open(late, createTestBrowser({ publicUrl }));
      assert.equal(refused.forms.has('accept'), false);
      await clock.until(openedAt + HOUR - MINUTE);
      await browser.submit(question, 'accept', { 'field-0': 'blue' });
      assert.equal((await client.read(mailed?.id ?? '')).state, 'accepted');
      return 'opened a minute before its end and answered 59 minutes later; refused two seconds after its end';
    },
  },
  {
    name: 'a stream request belongs to its user for a week and a day after the last question',
    documented: 'docs/redis.md (claim:stream)',
    lateness: 'a minute for which pods remember a claim',
    async story({ client, clock }) {
      const ask = (userId: string) =>
        client.call('POST', '/v1/elicitations', {
          body: {
            userId,
            streamRequestId: 'claimed',
            mode: 'url',
            url: 'https://example.com/',
            message: 'Open it.',
          },
        });
      must(await ask('first-owner'), 201);
      const claimedAt = Date.now();
      await clock.until(claimedAt + WEEK + RETENTION - MINUTE);
      assert.equal(must(await ask('second-owner'), 409).body.code, 'stream_owner_mismatch');
      await clock.until(claimedAt + WEEK + RETENTION + 2 * MINUTE);
      must(await ask('second-owner'), 201);
      return 'refused to another user a minute before, free two minutes after';
    },
  },
];
