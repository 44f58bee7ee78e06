import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, pathsOf, type Reply } from '../../harness/attacks/call.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SERVICE_KEYS,
  type Tenant,
  WEBHOOK_SECRET,
  type World,
} from '../../harness/attacks/world.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import { BAD_URLS } from './urls.ts';

/** Addresses of private places, in spellings that a reader or a filter may not know. */
const PRIVATE_URLS: readonly string[] = [
  ...['127.1', '0177.0.0.1', '2130706433', '[::]', '[::ffff:10.0.0.1]', '[64:ff9b::7f00:1]', '[fe80::1]'],
  ...['169.254.169.254', '172.16.0.1', '168.63.129.16', 'LOCALHOST', 'localhost:8443', '127.0.0.1:6379'],
].map((host) => `https://${host}/latest/meta-data`);

export function webhookAttacks(world: () => World): void {
  describe('S6 webhooks', () => {
    let person: Person;
    beforeAll(async () => {
      person = await newPerson();
    });

    const askWith = (webhookUrl: unknown, tenant: Tenant = 'acme') =>
      world().call({
        ...POST_ASK,
        token: SERVICE_KEYS[tenant],
        body: { ...question(person.userId), webhookUrl },
      });

    it('every url of the corpus and every spelling of a private address is refused', async () => {
      const asked: string[] = [];
      for (const url of [...BAD_URLS, ...PRIVATE_URLS]) {
        const reply = await askWith(url);
        if (reply.status === 201) asked.push(url);
        else if (!url.includes('\u0000'))
          expect(pathsOf(expectProblem(reply, 400, 'invalid_request')), url).toEqual(['webhookUrl']);
        else expect(reply.status).toBe(400);
      }
      expect(asked).toEqual([]);
    });

    it.each([null, 1, {}, ['https://example.com/'], true])('%j is refused as no URL', async (url) => {
      expectProblem(await askWith(url), 400, 'invalid_request');
    });

    it('a tenant without a secret is refused with the variable to set, and nothing is sent unsigned', async () => {
      const reply = await askWith('https://hooks.example/', 'globex');
      const problem = expectProblem(reply, 400, 'invalid_request');
      expect(problem.errors).toEqual([
        { path: 'webhookUrl', message: expect.stringContaining('PARLEY_WEBHOOK_SECRETS') },
      ]);
    });

    it('their URLs appear in no reply and no log', async () => {
      const marker = canary('webhook-url');
      const webhookUrl = `https://hooks.example/${marker}?key=${marker}`;
      const { token, userId } = person;
      const seen: Reply[] = [];
      const call = async (...request: Parameters<World['call']>) => {
        const reply = await world().call(...request);
        seen.push(reply);
        return reply;
      };
      const body = { ...question(userId), webhookUrl };
      const ask = {
        ...POST_ASK,
        token: SERVICE_KEYS.acme,
        body,
        headers: { 'idempotency-key': 'one-webhook' },
      };
      const { elicitationId, streamRequestId } = (await call(ask)).json as Record<string, string>;
      const inbox = await openStream(world().pods[1], '/v1/inbox/events', token);
      await inbox.event(0);
      const stream = await openStream(world().pods[0], `/v1/streams/${streamRequestId}/events`, token);
      expect((await call(ask)).headers.get('idempotent-replayed')).toBe('true');
      expectProblem(
        await call({ ...ask, body: { ...body, webhookUrl: `${webhookUrl}&x` } }),
        409,
        'idempotency_mismatch',
      );
      await call({ ...ask, body: { ...body, webhookUrl: `http://hooks.example/${marker}` } });
      const path = `/v1/elicitations/${elicitationId}`;
      for (const [of, whose] of [
        [path, SERVICE_KEYS.acme],
        [path, token],
        [`/v1/elicitations?userId=${userId}`, SERVICE_KEYS.acme],
        ['/v1/elicitations', token],
        [`${path}/wait?timeoutSeconds=0`, SERVICE_KEYS.acme],
      ] as const)
        expect((await call({ path: of, token: whose })).status).toBe(200);
      const response = { method: 'POST', path: `${path}/response`, token };
      await call({ ...response, body: { action: 'accept', content: { name: 1 } } });
      expect((await call({ ...response, body: { action: 'decline' } })).status).toBe(200);
      expectProblem(await call({ ...response, body: { action: 'cancel' } }), 409, 'already_settled');
      await stream.event(1);
      await inbox.event(1);
      stream.close();
      inbox.close();
      const scraped = await Promise.all(world().metricsUrls.map(async (url) => (await fetch(url)).text()));
      const said = [
        ...seen.map(({ text, headers }) => text + JSON.stringify([...headers])),
        ...[inbox.text(), stream.text(), ...scraped],
        ...world().pods.flatMap(({ lines, stderr }) => [...lines, ...stderr]),
      ];
      expect(findCanary(marker, said)).toEqual([]);
      expect(said.filter((text) => /hooks\.example|webhookUrl":"/.test(text))).toEqual([]);
      expect(findCanary(WEBHOOK_SECRET.slice('whsec_'.length), said)).toEqual([]);
    });
  });
}
