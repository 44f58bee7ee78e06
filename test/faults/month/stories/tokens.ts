import assert from 'node:assert/strict';
import { waitUntil } from '../../../harness/wait-until.ts';
import { must } from '../client.ts';
import type { Row } from '../rows.ts';
import { ENDING_KEY } from '../settings.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../times.ts';

const TOLERANCE = 30 * SECOND;

/** Tokens and keys that end, and keys that rotate. */
export const TOKEN_STORIES: readonly Row[] = [
  {
    name: 'a stream ends with its access token, and the next one misses nothing',
    documented: 'docs/security.md (exp, 30 s), docs/http-api.md (stream-closed)',
    isDaily: true,
    lateness: '30 s of tolerance, and a second',
    async story({ client, clock, stage }) {
      const streamRequestId = 'stream-of-an-hour';
      const first = await client.ask('hourly', { streamRequestId, timeoutSeconds: DAY / SECOND });
      const openedAt = Date.now();
      const open = async (headers = {}) =>
        client.stream('GET', `/v1/streams/${streamRequestId}/events`, {
          token: await stage.issuer.token('hourly'),
          headers,
        });
      const reader = await open();
      await clock.until(openedAt + HOUR - MINUTE);
      assert.equal(reader.endedAt(), undefined);
      await clock.until(openedAt + HOUR + TOLERANCE + SECOND);
      await waitUntil(() => reader.endedAt() !== undefined, { what: 'the end of the stream' });
      assert.deepEqual(reader.events.at(-1)?.data, { reason: 'token_expired' });
      must(await client.answer('hourly', first), 200);
      const lastId = reader.events.findLast(({ id }) => id !== undefined)?.id ?? '';
      const next = await open({ 'last-event-id': lastId });
      await waitUntil(() => next.events.length > 0, { what: 'the missed event' });
      assert.deepEqual(
        next.events.map(({ name }) => name),
        ['elicitation-resolved'],
      );
      return 'open after 59 minutes, closed with token_expired, resumed by Last-Event-ID';
    },
  },
  {
    name: 'a token without an end is taken for a day after it was issued',
    documented: 'docs/security.md (PARLEY_JWT_MAX_AGE_SECONDS)',
    lateness: '30 s of tolerance, and a minute for which a verified token is cached',
    async story({ client, clock, stage: { issuer } }) {
      const token = await issuer.token('endless', { seconds: Number.POSITIVE_INFINITY });
      const issuedAt = Date.now();
      const call = () => client.call('GET', '/v1/elicitations?status=pending', { token });
      await clock.until(issuedAt + DAY - MINUTE);
      must(await call(), 200);
      await clock.until(issuedAt + DAY + TOLERANCE + MINUTE);
      must(await call(), 401);
      return 'taken a minute before, refused 90 seconds after';
    },
  },
  {
    name: 'the keys of the issuer rotate each day, and a new one is taken at once',
    documented: 'docs/operations.md (User tokens: rotate the keys at the provider)',
    lateness: 'none for a new key; ten minutes for a removed one',
    async story({ client, clock, stage: { issuer } }) {
      const isTaken = async (token: string) =>
        (await client.call('GET', '/v1/elicitations?status=pending', { token })).status === 200;
      const days = 3;
      for (let day = 0; day < days; day += 1) {
        await clock.until(after(DAY + HOUR));
        const newest = await issuer.rotate();
        const tokens = await Promise.all([newest, newest - 1].map((by) => issuer.token('keys', { by })));
        for (const token of tokens) assert.equal(await isTaken(token), true);
        const removed = await issuer.token('keys', {
          by: newest - 2 < 0 ? newest : newest - 2,
          seconds: DAY / SECOND,
        });
        await clock.until(after(10 * MINUTE + SECOND));
        if (newest >= 2) assert.equal(await isTaken(removed), false);
      }
      return `${days} rotations: the new and the former key taken at once, an unpublished one refused`;
    },
  },
  {
    name: 'the keys of an issuer that cannot be reached are used for an hour',
    documented: 'docs/configuration.md (PARLEY_JWT_KEYS_KEPT_SECONDS)',
    lateness: 'none',
    async story({ client, clock, stage: { issuer } }) {
      await clock.until(after(12 * HOUR));
      const call = async () =>
        client.call('GET', '/v1/elicitations?status=pending', { token: await issuer.token('out') });
      for (const _pod of [1, 2]) must(await call(), 200);
      issuer.setUnavailable(true);
      try {
        const since = Date.now();
        await clock.until(since + HOUR - MINUTE);
        for (const _pod of [1, 2]) must(await call(), 200);
        await clock.until(since + HOUR + MINUTE);
        for (const _pod of [1, 2]) must(await call(), 503);
      } finally {
        issuer.setUnavailable(false);
      }
      await clock.until(after(31 * SECOND));
      for (const _pod of [1, 2]) must(await call(), 200);
      return 'taken for 59 minutes of an outage, then 503 until the issuer was back';
    },
  },
  {
    name: 'a service key is refused from midnight (UTC) of its day on, and its streams end then',
    documented: 'docs/security.md (Service keys; an event stream ends with its key)',
    lateness: 'a second',
    async story({ client, clock, stage: { keyEndsAt } }) {
      const call = () =>
        client.call('GET', '/v1/elicitations?status=pending&userId=any', { token: ENDING_KEY });
      await clock.until(keyEndsAt - MINUTE);
      must(await call(), 200);
      const reader = await client.stream('GET', '/v1/streams/any/events?userId=any', { token: ENDING_KEY });
      assert.equal(reader.status, 200);
      await clock.until(keyEndsAt + SECOND);
      must(await call(), 401);
      await waitUntil(() => reader.endedAt() !== undefined, { what: 'the end of the stream' });
      return 'taken a minute before midnight; a second after it refused, and its stream has ended';
    },
  },
];
