import { ParleyError } from '@parley/core/domain/errors';
import { describe, expect, test } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import { createTestBrowser, SAYS, type Shown } from '../../harness/pages/browser.ts';
import { ADA } from '../../harness/pages/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startWorld as startNangoWorld } from '../connectors/nango-setup.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { world: start } = pagesSuite();

const OWNER = { kind: 'user', ...ADA } as const;

/** Ada before the consent page of a service that is connected through Nango, whose webhooks arrive unless lost. */
async function begun({ lost = false, ...options }: { lost?: boolean } & WorldOptions = {}) {
  const { nango, connector } = await startNangoWorld({ id: 'desk' });
  const here = await start({ services: () => ({ desk: connector }), ...options });
  const webhookUrl = `${here.publicUrl}/auth/webhooks/desk`;
  nango.sendWebhooksTo(webhookUrl);
  nango.loseWebhooks(lost);
  const asked = await here.ask({ toolId: 'desk' });
  const browser = createTestBrowser(here);
  const consent = await browser.enter(asked.path, 'ada');
  return { here, nango, connector, browser, consent, webhookUrl, ...asked };
}

type Begun = Awaited<ReturnType<typeof begun>>;

/** The person connects at Nango, where they end. */
async function connectAt({ nango }: Begun, left: Shown): Promise<void> {
  const stopAt = (url: string) => url.startsWith(nango.redirectUri);
  expect((await fetch(await walkSignIn({ url: left.link ?? '', user: 'ada', stopAt }))).status).toBe(200);
}

/** Answered, and what came of it usable: the one comes a moment before the other. */
const settled = ({ here, id }: Begun) =>
  waitUntil(
    async () =>
      (await here.status(id)) === 'accepted' && here.events.some(({ type }) => type === 'completed'),
    { what: 'the question to be answered' },
  );

/** Sends a webhook as Nango sent it, or changed. */
async function deliver({ nango, webhookUrl }: Begun, more: { body?: string; signature?: string } = {}) {
  const sent = nango.webhooks.at(-1);
  const signature = more.signature ?? sent?.headers['x-nango-hmac-sha256'] ?? '';
  const headers = { 'content-type': 'application/json', 'x-nango-hmac-sha256': signature };
  const response = await fetch(webhookUrl, { method: 'POST', headers, body: more.body ?? sent?.body ?? '' });
  return response.status;
}

const connections = async ({ here }: Begun) => (await here.held('desk'))?.credential.reveal();

describe('a service that reports by webhook', () => {
  test('is connected once it has reported', async () => {
    const started = await begun();
    const { here, browser, consent, path, id } = started;
    const left = await browser.submit(consent, 'start');
    expect(new URL(left.link ?? '').origin).toBe(started.nango.url);
    expect((await browser.open(path)).heading).toBe(SAYS.waiting);
    await connectAt(started, left);
    await settled(started);
    expect(await connections(started)).toMatchObject({ kind: 'nango' });
    expect((await browser.open(path)).heading).toBe(SAYS.connected('desk'));
    expect(here.events).toMatchObject([{ type: 'completed', elicitationId: id }]);
  });

  test('is believed only with its signature, and only for this connection', async () => {
    const started = await begun({ lost: true });
    await connectAt(started, await started.browser.submit(started.consent, 'start'));
    const body = started.nango.webhooks.at(-1)?.body ?? '';
    expect(await deliver(started, { signature: '' })).toBe(401);
    expect(await deliver(started, { signature: '0'.repeat(64) })).toBe(401);
    expect(await deliver(started, { body: `${body} ` })).toBe(401);
    expect(await deliver(started, { body: body.replace('acme', 'evil') })).toBe(401);
    expect(await deliver(started, { body: 'x'.repeat(300_000) })).toBe(413);
    expect(await started.here.status(started.id)).toBe('opened');
    expect(await connections(started)).toBeUndefined();
    expect(await deliver(started)).toBe(204);
    expect(await started.here.status(started.id)).toBe('accepted');
  });

  test('gets an empty refusal before its proof only, and a problem document for a later error', async () => {
    const started = await begun({ lost: true });
    await connectAt(started, await started.browser.submit(started.consent, 'start'));
    started.connector.finish = async () => {
      throw new ParleyError('not_found', 'Thrown after the proof.');
    };
    const { body = '', headers } = started.nango.webhooks.at(-1) ?? {};
    const send = (signature: string) =>
      fetch(started.webhookUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-nango-hmac-sha256': signature },
        body,
      });
    const refused = await send('');
    expect([refused.status, await refused.text()]).toEqual([401, '']);
    const failed = await send(String(headers?.['x-nango-hmac-sha256']));
    expect([failed.status, await failed.json()]).toMatchObject([404, { code: 'not_found' }]);
  });

  test('changes nothing with a report of another tenant or for an unknown flow', async () => {
    const started = await begun({ lost: true });
    const { here, connector, id, browser, consent } = started;
    for (const context of [
      { flowId: id, tenant: 'evil' },
      { flowId: `${id}x`, tenant: ADA.tenant },
    ]) {
      const ofAnother = await connector.begin(context);
      if (ofAnother.type !== 'redirect') throw new Error(ofAnother.type);
      await browser.submit(consent, 'start');
      await connectAt(started, { link: ofAnother.url } as Shown);
      expect(await deliver(started)).toBe(204);
      expect(await here.status(id)).toBe('opened');
      expect(await connections(started)).toBeUndefined();
    }
  });

  test('is polled when its report is lost', async () => {
    const started = await begun({ lost: true });
    const { here, browser, consent, path, id } = started;
    const left = await browser.submit(consent, 'start');
    const waiting = await browser.open(path);
    const look = await browser.open(waiting.again ?? '');
    expect(look.heading).toBe(SAYS.waiting);
    await connectAt(started, left);
    const elsewhere = createTestBrowser(here);
    expect((await elsewhere.open(waiting.again ?? '')).heading).toBe(SAYS.signIn);
    expect(await here.status(id)).toBe('opened');
    expect((await browser.open(look.again ?? '')).heading).toBe(SAYS.connected('desk'));
    expect(await here.status(id)).toBe('accepted');
    expect(await deliver(started)).toBe(204);
    expect(here.events.filter(({ type }) => type === 'completed')).toHaveLength(1);
  });

  test('is waited for up to a limit; then the user may begin again', async () => {
    const started = await begun({ lost: true });
    const { browser, consent, path } = started;
    await browser.submit(consent, 'start');
    let shown = await browser.open(path);
    for (let look = 0; look < 20 && shown.again !== undefined; look += 1)
      shown = await browser.open(shown.again);
    expect(shown.forms.has('start')).toBe(true);
    const again = await browser.submit(shown, 'start');
    await connectAt(started, again);
    expect(await deliver(started)).toBe(204);
    await settled(started);
  });

  test('that reports on a declined question has its connection ended', async () => {
    const started = await begun({ lost: true });
    const { here, browser, consent, id, nango } = started;
    await connectAt(started, await browser.submit(consent, 'start'));
    await here.engine.answer({ caller: OWNER, id, response: { action: 'decline' }, surface: 'chat' });
    expect(await deliver(started)).toBe(204);
    expect(await connections(started)).toBeUndefined();
    expect(await started.connector.poll?.({ connectorId: 'desk', flowId: id, tenant: ADA.tenant })).toEqual({
      type: 'pending',
    });
    expect(nango.webhooks).toHaveLength(1);
  });

  test('that reports again on a question that ended long ago replaces nothing', async () => {
    const started = await begun({ lost: true });
    const { here, browser, consent, id } = started;
    await connectAt(started, await browser.submit(consent, 'start'));
    const service = { kind: 'service', tenant: ADA.tenant } as const;
    await here.engine.withdraw({ caller: service, id, reason: 'run_stopped' });
    expect(await deliver(started)).toBe(204);
    expect(await connections(started)).toMatchObject({ kind: 'nango' });
    const newer = { kind: 'nango', connectionId: 'newer', providerConfigKey: 'tracker' } as const;
    await here.vault.save({ ...ADA, toolId: 'desk', connectorId: 'desk' }, newer);
    expect(await deliver(started)).toBe(204);
    expect(await connections(started)).toEqual(newer);
  });

  test('does not bind the browser, where a binding comes later', async () => {
    const identity = createBoundIdentity('https://app.example.com/connected');
    const started = await begun({ identity });
    const { here, browser, consent, path, id } = started;
    await connectAt(started, await browser.submit(consent, 'start'));
    await waitUntil(() => started.nango.webhooks.length === 1, { what: 'the webhook' });
    expect(await deliver(started)).toBe(204);
    expect(await connections(started)).toBeUndefined();
    const waiting = await browser.open(path);
    const leaving = await browser.open(waiting.again ?? '');
    expect(new URL(leaving.link ?? '').origin).toBe('https://app.example.com');
    expect(await connections(started)).toBeUndefined();
    expect(await here.status(id)).toBe('pending');
  });
});
