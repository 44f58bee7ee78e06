import type { ServerResponse } from 'node:http';
import type { Owner } from '@parley/core/domain/ids';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { WEBHOOK_KEEP_MS, WEBHOOK_PAUSES_MS } from '@parley/shared/domain/webhooks/schedule';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { answerQuestion, newOwner, QUESTIONS, serviceOf } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  DEAD_LETTER_MS,
  OTHER_SECRET,
  openSites,
  type Received,
  type Receiver,
  replyWith,
  SECRET,
  type Site,
  SLOW_MS,
  startReceiver,
  verified,
} from '../../harness/webhooks/setup.ts';

let redis: RedisServer;
let sites: Awaited<ReturnType<typeof openSites>>;
let site: Site;
beforeAll(async () => {
  redis = await startRedis();
  sites = await openSites(redis.url);
});
afterAll(async () => {
  await sites?.close();
  await redis?.stop();
});
beforeEach(() => {
  site = sites.open();
});

/** Asks, and answers with red. */
async function answered(url: string, more: Parameters<Site['ask']>[1] = {}, by?: Owner) {
  const { owner, row } = await site.ask(url, more, by);
  const { row: ended } = await answerQuestion(site.engine, owner, row.id, 'accept', { colour: 'red' });
  return { owner, row: ended, id: row.id };
}

/** The only call that a receiver got. */
function only({ received: [call, ...others] }: Receiver): Received {
  expect(others).toEqual([]);
  if (call === undefined) throw new Error('Nothing was sent.');
  return call;
}

const lettersOf = (tenant: string) => site.deadLetters.page({ tenant, limit: 100 });

describe('a webhook', () => {
  it('sends the asker the same as a GET, with a signature that a receiver library verifies', async () => {
    const receiver = await startReceiver(replyWith(200));
    const { id, row } = await answered(receiver.url);
    expect(await site.deliver(id)).toBe('done');
    const call = only(receiver);
    expect([call.method, call.path]).toEqual(['POST', '/hook?key=of-the-receiver']);
    expect(call.headers['content-type']).toBe('application/json');
    expect(call.headers['webhook-id']).toBe(`msg_${id}`);
    const now = row.settledAt ?? 0;
    const event = {
      type: 'elicitation.accepted',
      timestamp: new Date(now).toISOString(),
      data: toWire(row, { now, content: true }),
    };
    expect(await verified(call)).toEqual(event);
    expect(event.data.content).toEqual({ colour: 'red' });
    expect(call.body).not.toContain('of-the-receiver');
    await expect(verified(call, OTHER_SECRET)).rejects.toThrow();
    await expect(verified({ ...call, body: `${call.body} ` })).rejects.toThrow();
    const headers = { ...call.headers, 'webhook-id': 'msg_of_another' };
    await expect(verified({ ...call, headers })).rejects.toThrow();
    expect(site.attempts).toMatchObject([
      { elicitationId: id, outcome: 'delivered', attempt: 1, status: 200 },
    ]);
    expect(site.kept).toEqual([[id, ROOMY.retentionMs]]);
  });

  it.each(['accepted', 'declined', 'cancelled', 'expired', 'withdrawn'] as const)(
    'reports that it was %s',
    async (status) => {
      const receiver = await startReceiver();
      const { owner, row } = await site.ask(
        receiver.url,
        status === 'expired' ? { timeoutSeconds: 0.01 } : {},
      );
      const end = {
        accepted: () => answerQuestion(site.engine, owner, row.id, 'accept', { colour: 'red' }),
        declined: () => answerQuestion(site.engine, owner, row.id, 'decline'),
        cancelled: () => answerQuestion(site.engine, owner, row.id, 'cancel'),
        expired: () =>
          waitUntil(async () => (await site.engine.expire(row.id)).type === 'expired', { what: 'expiry' }),
        withdrawn: () => site.engine.withdraw({ caller: serviceOf(owner), id: row.id, reason: 'superseded' }),
      };
      await end[status]();
      expect(await site.deliver(row.id)).toBe('done');
      expect(await verified(only(receiver))).toMatchObject({
        type: `elicitation.${status}`,
        data: { elicitationId: row.id, status, ...(status === 'withdrawn' && { reason: 'superseded' }) },
      });
    },
  );

  it('of a sensitive question does not contain the answer', async () => {
    const receiver = await startReceiver();
    const { owner, row: asked } = await site.ask(receiver.url, { sensitive: true });
    const { id } = asked;
    const content = { colour: 'red', note: canary('sensitive') };
    await answerQuestion(site.engine, owner, id, 'accept', content);
    await site.deliver(id);
    const call = only(receiver);
    const { data } = JSON.parse(call.body) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ status: 'accepted', action: 'accept', sensitive: true });
    expect(data).not.toHaveProperty('content');
    expect(findCanary(content.note, [JSON.stringify(call)])).toEqual([]);
    const seen = await site.engine.read(serviceOf(owner), id);
    expect(seen.row.settlement?.content).toEqual(content);
  });

  it('of a question in url mode is sent too', async () => {
    const receiver = await startReceiver();
    const { owner, row } = await site.ask(receiver.url, QUESTIONS['url, server completion']);
    await site.engine.complete({ caller: serviceOf(owner), id: row.id, surface: 'test' });
    await site.deliver(row.id);
    expect(JSON.parse(only(receiver).body)).toMatchObject({
      type: 'elicitation.accepted',
      data: { url: 'https://pages.example/two' },
    });
  });

  it('is signed by each secret of the tenant, so that receivers can rotate theirs', async () => {
    const receiver = await startReceiver();
    const { id } = await answered(receiver.url);
    site.secrets = [OTHER_SECRET, SECRET];
    await site.deliver(id);
    const call = only(receiver);
    expect(String(call.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(await verified(call, SECRET)).toEqual(await verified(call, OTHER_SECRET));
  });

  it('is never sent unsigned, and is sent once there is a secret again', async () => {
    const receiver = await startReceiver();
    const { id } = await answered(receiver.url);
    site.secrets = [];
    expect(await site.deliver(id)).toMatchObject({ retryInMs: 5_000 });
    expect(receiver.received).toEqual([]);
    expect(site.attempts).toMatchObject([{ outcome: 'again', fault: 'no_secret' }]);
    site.secrets = [SECRET];
    expect(await site.deliver(id, 2)).toBe('done');
    expect(receiver.received).toHaveLength(1);
  });

  it('does not exist for a question that is open, was asked without one, or was deleted', async () => {
    const receiver = await startReceiver();
    const { row: open } = await site.ask(receiver.url);
    const { owner, row: silent } = await site.ask(receiver.url, { webhookUrl: undefined } as object);
    await answerQuestion(site.engine, owner, silent.id, 'decline');
    const gone = `${open.id.slice(0, -4)}gone`;
    for (const id of [open.id, silent.id, gone]) expect(await site.deliver(id)).toBe('done');
    expect(receiver.received).toEqual([]);
    expect(site.attempts.map(({ outcome }) => outcome)).toEqual(['dropped', 'dropped', 'dropped']);
  });
});

describe('an attempt that fails', () => {
  it('is repeated with the same id and the same body until it is accepted', async () => {
    const receiver = await startReceiver((res, _req, nth) => res.writeHead(nth < 3 ? 500 : 202).end());
    const { id, owner } = await answered(receiver.url);
    expect(await site.drive(id)).toEqual([5_000, 300_000]);
    expect(receiver.received).toHaveLength(3);
    const [first] = receiver.received;
    for (const call of receiver.received) {
      expect(call.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(call.body).toBe(first?.body);
      expect(await verified(call)).toMatchObject({ type: 'elicitation.accepted' });
    }
    expect(site.attempts.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['again', 500],
      ['again', 500],
      ['delivered', 202],
    ]);
    expect(await lettersOf(owner.tenant)).toEqual({ deadLetters: [] });
  });

  it('is the last after ten, and a dead letter is written', async () => {
    const receiver = await startReceiver(replyWith(503));
    const { id, owner } = await answered(receiver.url);
    expect(await site.drive(id)).toEqual(WEBHOOK_PAUSES_MS);
    expect(receiver.received).toHaveLength(10);
    const { deadLetters } = await lettersOf(owner.tenant);
    const letter = {
      deliveryId: webhookIdOf(id),
      elicitationId: id,
      attempts: 10,
      lastError: 'status',
      lastStatus: 503,
    };
    expect(deadLetters).toEqual([{ ...letter, diedAt: deadLetters[0]?.diedAt }]);
    // For as long as it is tried, counted from each attempt; then for as long as its letter is listed.
    expect(new Set(site.kept.slice(0, -1).map(String))).toEqual(new Set([String([id, WEBHOOK_KEEP_MS])]));
    expect(site.kept.at(-1)).toEqual([id, DEAD_LETTER_MS]);
    expect(site.attempts.at(-1)).toMatchObject({ outcome: 'dead', attempt: 10 });
  });

  it('may be repeated after its dead letter was written: there is one dead letter until it is accepted', async () => {
    let status = 500;
    const receiver = await startReceiver((res) => res.writeHead(status).end());
    const { id, owner } = await answered(receiver.url);
    expect(await site.deliver(id, 10)).toBe('done');
    expect(await site.deliver(id, 11)).toBe('done');
    expect((await lettersOf(owner.tenant)).deadLetters).toMatchObject([{ attempts: 11 }]);
    status = 200;
    expect(await site.deliver(id, 12)).toBe('done');
    expect((await lettersOf(owner.tenant)).deadLetters).toEqual([]);
  });

  it('waits as long as the receiver requests, up to the next planned pause', async () => {
    const asks: Record<string, string> = { 1: '60', 2: '9999999', 3: 'soon', 4: '0' };
    const receiver = await startReceiver((res, _req, nth) =>
      res
        .writeHead(429, { 'retry-after': asks[nth] ?? new Date(Date.now() + 7 * 3_600_000).toUTCString() })
        .end(),
    );
    const { id } = await answered(receiver.url);
    const pauses = await site.drive(id);
    expect(pauses.slice(0, 4)).toEqual([60_000, 1_800_000, 1_800_000, 7_200_000]);
    // By a date: seven hours from now, to the second.
    expect(pauses[4]).toBeGreaterThan(6.9 * 3_600_000);
    expect(pauses[4]).toBeLessThanOrEqual(7 * 3_600_000 + 60_000);
    expect(receiver.received).toHaveLength(10);
  });

  it('is the last when the receiver is gone for good', async () => {
    const receiver = await startReceiver(replyWith(410));
    const { id, owner } = await answered(receiver.url);
    expect(await site.deliver(id)).toBe('done');
    expect((await lettersOf(owner.tenant)).deadLetters).toMatchObject([
      { attempts: 1, lastError: 'gone', lastStatus: 410 },
    ]);
  });

  it('because the connection is refused is reported as such', async () => {
    const { id } = await answered('http://127.0.0.1:1/hook');
    expect(await site.deliver(id)).toMatchObject({ retryInMs: 5_000 });
    expect(site.attempts).toMatchObject([{ outcome: 'again', fault: 'failed' }]);
    expect(site.attempts[0]).not.toHaveProperty('status');
  });
});

describe('a receiver that misbehaves', () => {
  it.each([301, 302, 303, 307, 308])('is not followed by a redirect: %i', async (status) => {
    const inner = await startReceiver();
    const receiver = await startReceiver(replyWith(status, { location: inner.url }));
    const { id } = await answered(receiver.url);
    expect(await site.deliver(id)).toMatchObject({ retryInMs: 5_000 });
    expect([receiver.received.length, inner.received.length]).toEqual([1, 0]);
    expect(site.attempts).toMatchObject([{ outcome: 'again', fault: 'status', status }]);
  });

  it('is not waited for beyond the timeout', async () => {
    site = sites.open({ timeoutMs: 300 });
    const receiver = await startReceiver(() => undefined);
    const { id } = await answered(receiver.url);
    expect(await site.deliver(id)).toMatchObject({ retryInMs: 5_000 });
    expect(site.attempts).toMatchObject([{ outcome: 'again', fault: 'timeout' }]);
  });

  it('gets few places while it hangs: the rest is deferred, without counting as attempts, until it is quick again', async () => {
    const silent: ServerResponse[] = [];
    let answers = false;
    const receiver = await startReceiver(
      (res) => void (answers ? res.writeHead(204).end() : silent.push(res)),
    );
    const owner = newOwner();
    const ids = [];
    for (let count = 0; count < 3; count += 1) ids.push((await answered(receiver.url, {}, owner)).id);
    const [first = '', second = '', third = ''] = ids;
    const one = site.deliver(first);
    await waitUntil(() => silent.length === 1, { what: 'the first delivery' });
    const since = performance.now();
    await waitUntil(() => performance.now() - since > 2 * SLOW_MS, { what: 'it to be slow' });
    silent[0]?.destroy();
    expect(await one).toMatchObject({ retryInMs: 5_000 });
    const two = [site.deliver(first, 2), site.deliver(second)];
    await waitUntil(() => silent.length === 3, { what: 'both to be there' });
    expect(await site.deliver(third)).toEqual({ deferInMs: 5_000 });
    for (const res of silent) res.destroy();
    await Promise.all(two);
    expect(site.attempts.map(({ outcome }) => outcome)).toEqual(['again', 'again', 'again']);
    answers = true;
    expect(await site.deliver(third)).toBe('done');
  });

  it('has accepted it with its status, even when its body never ends', async () => {
    const receiver = await startReceiver((res) => void res.writeHead(200).write('a'));
    const { id } = await answered(receiver.url);
    expect(await site.deliver(id)).toBe('done');
    expect(site.attempts).toMatchObject([{ outcome: 'delivered', status: 200 }]);
  });

  it('is cut off when it sends endless headers, or no HTTP at all', async () => {
    const receiver = await startReceiver((res) => {
      res.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`);
    });
    const { id } = await answered(receiver.url);
    expect(await site.deliver(id)).toMatchObject({ retryInMs: 5_000 });
    const odd = await startReceiver((res) => void res.socket?.end('200 OK, thank you\r\n\r\n'));
    const { id: other } = await answered(odd.url);
    expect(await site.deliver(other)).toMatchObject({ retryInMs: 5_000 });
    expect(site.attempts.map(({ fault }) => fault)).toEqual(['failed', 'failed']);
  });
});

describe('a dead letter', () => {
  it('is delivered again on demand, from the first attempt on, and is removed from the list', async () => {
    let status = 500;
    const receiver = await startReceiver((res) => res.writeHead(status).end());
    const { id, owner } = await answered(receiver.url);
    await site.drive(id);
    const { tenant } = owner;
    const letter = (await lettersOf(tenant)).deadLetters[0];
    expect(await site.webhooks.redrive({ tenant, deliveryId: webhookIdOf(id) })).toEqual(letter);
    expect(site.outbox).toMatchObject([{ kind: 'webhook', subject: id }]);
    expect(site.kept.at(-1)).toEqual([id, DEAD_LETTER_MS]);
    expect((await site.webhooks.deadLetters({ tenant, limit: 10 })).deadLetters).toEqual([]);
    status = 200;
    expect(await site.drive(id)).toEqual([]);
    expect(receiver.received).toHaveLength(11);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('that was written during the redrive of the previous one stays', async () => {
    const receiver = await startReceiver(replyWith(410));
    const { id, owner } = await answered(receiver.url);
    const { tenant } = owner;
    await site.deliver(id, 3);
    site.onAdd = () => site.deliver(id, 1);
    await site.webhooks.redrive({ tenant, deliveryId: webhookIdOf(id) });
    expect((await lettersOf(tenant)).deadLetters).toMatchObject([{ attempts: 1, lastError: 'gone' }]);
  });

  it('stays when it could not be queued again', async () => {
    const receiver = await startReceiver(replyWith(410));
    const { id, owner } = await answered(receiver.url);
    const { tenant } = owner;
    await site.deliver(id);
    site.onAdd = () => Promise.reject(new Error('away'));
    await expect(site.webhooks.redrive({ tenant, deliveryId: webhookIdOf(id) })).rejects.toThrow('away');
    expect((await lettersOf(tenant)).deadLetters).toHaveLength(1);
  });
});
