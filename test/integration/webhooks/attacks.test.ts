import { createServer, isIPv4 } from 'node:net';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type { Resolver } from '@parley/shared/net/guarded-fetch';
import { createLog } from '@parley/shared/observe/log';
import { createMetrics } from '@parley/shared/observe/metrics';
import { startTelemetry } from '@parley/shared/observe/telemetry';
import { createWebhookObserver } from '@parley/shared/observe/webhook-observer';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import {
  bytesOf,
  openSites,
  replyWith,
  SECRET,
  type Site,
  startReceiver,
} from '../../harness/webhooks/setup.ts';

let redis: RedisServer;
let sites: Awaited<ReturnType<typeof openSites>>;
beforeAll(async () => {
  redis = await startRedis();
  sites = await openSites(redis.url);
});
afterAll(async () => {
  await sites?.close();
  await redis?.stop();
});

/** A site as in production, where `resolve` resolves names. */
const productionSite = (resolve: Resolver) => sites.open({ allowLoopback: false, resolve });

/** A service inside: it counts who connects. */
async function startInside() {
  const connected: string[] = [];
  const server = createServer((socket) => {
    connected.push(socket.remoteAddress ?? '');
    socket.destroy();
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => void server.close());
  return { port, connected };
}

async function lettersAfter(site: Site, url: string) {
  const { owner, row } = await site.plant(url);
  await answerQuestion(site.engine, owner, row.id, 'decline');
  const result = await site.deliver(row.id);
  const { deadLetters } = await site.deadLetters.page({ tenant: owner.tenant, limit: 10 });
  return { result, letters: deadLetters.map(({ attempts, lastError }) => [attempts, lastError]) };
}

const resolvingTo =
  (...addresses: readonly string[]): Resolver =>
  async () =>
    addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));

describe('S6 a webhook to a private address', () => {
  // test/integration/connectors/guard.test.ts has the addresses.
  it.each(['127.0.0.1', '0x7f.1', '[::ffff:10.0.0.1]', '169.254.169.254', 'localhost'])(
    'https://%s is never called, and a dead letter at once',
    async (host) => {
      const site = productionSite(resolvingTo('127.0.0.1'));
      const inside = await startInside();
      const { result, letters } = await lettersAfter(site, `https://${host}:${inside.port}/latest/meta-data`);
      expect([result, letters]).toEqual(['done', [[1, 'refused_address']]]);
      expect(inside.connected).toEqual([]);
    },
  );

  it.each([
    ['a private network', ['10.0.0.5']],
    ['one public and one private address', ['93.184.216.34', '127.0.0.1']],
  ])('by a name that resolves to %s is never called, and a dead letter at once', async (_what, addresses) => {
    const site = productionSite(resolvingTo(...addresses));
    const inside = await startInside();
    for (const host of ['hooks.example', 'localhost.', '127.0.0.1.nip.example']) {
      const { result, letters } = await lettersAfter(site, `https://${host}:${inside.port}/`);
      expect([result, letters]).toEqual(['done', [[1, 'refused_address']]]);
    }
    expect(inside.connected).toEqual([]);
  });

  it('by http is a dead letter at once in production, whatever the name', async () => {
    const site = productionSite(resolvingTo('93.184.216.34'));
    for (const url of ['http://hooks.example/', 'https://user:secret@hooks.example/', 'ftp://hooks.example/'])
      expect(await lettersAfter(site, url)).toMatchObject({ letters: [[1, 'refused_url']] });
  });

  it('by a name that does not resolve is tried again', async () => {
    const site = productionSite(async () => Promise.reject(new Error('no such name')));
    const { result, letters } = await lettersAfter(site, 'https://hooks.example/');
    expect([result, letters]).toMatchObject([{ retryInMs: 5_000, failure: { code: 'unresolved' } }, []]);
  });
});

describe('S19 reports on webhooks', () => {
  it('contain neither URL nor secret nor answer, in logs, metrics and the list of dead letters', async () => {
    const telemetry = await startTelemetry({ service: 'test', pod: 'pod', version: '1' });
    onTestFinished(() => telemetry.shutdown());
    const metrics = createMetrics(telemetry.meter);
    const lines: string[] = [];
    const log = createLog(
      { service: 'test', level: 'trace', pod: 'pod' },
      { write: (line) => lines.push(line) },
    );
    const observer = createWebhookObserver({ log, metrics });
    const site = sites.open();
    const marker = canary('webhook');
    const receiver = await startReceiver((res, _req, nth) =>
      replyWith(nth === 1 ? 500 : 410, { 'x-marker': marker })(res, _req, nth),
    );
    const { owner, row } = await site.ask(`${receiver.url}&token=${marker}`, { message: `Say ${marker}.` });
    await answerQuestion(site.engine, owner, row.id, 'accept', { colour: 'red', note: marker });
    await site.deliver(row.id, 1);
    await site.deliver(row.id, 2);
    for (const attempt of site.attempts) observer.attempted(attempt);
    expect(receiver.received[0]?.body).toContain(marker);
    const page = await site.webhooks.deadLetters({ tenant: owner.tenant, limit: 10 });
    expect(page.deadLetters).toMatchObject([{ lastError: 'gone', attempts: 2 }]);
    const scraped = await new Promise<string>((resolve) => {
      telemetry.metricsHandler(
        { url: '/metrics', method: 'GET' } as never,
        { statusCode: 0, setHeader: () => undefined, end: (text: string) => resolve(text) } as never,
      );
    });
    expect(scraped).toMatch(/parley_webhook_deliveries_total\{outcome="again".*\} 1/);
    expect(scraped).toMatch(/parley_webhook_deliveries_total\{outcome="dead".*\} 1/);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', elicitationId: row.id, outcome: 'again', fault: 'status', status: 500, attempt: 1 },
      { level: 'warn', elicitationId: row.id, outcome: 'dead', fault: 'gone', status: 410, attempt: 2 },
    ]);
    const said = [...lines, scraped, JSON.stringify([site.attempts, page])];
    expect(findCanary(marker, said)).toEqual([]);
    for (const text of said) {
      expect(text).not.toContain('/hook');
      expect(text).not.toContain(SECRET.slice('whsec_'.length));
      expect(text).not.toContain(bytesOf(SECRET).toString('hex'));
      expect(text).not.toContain('v1,');
    }
    expect(JSON.stringify(page)).toContain(webhookIdOf(row.id));
  });
});
