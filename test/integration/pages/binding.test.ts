import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { describe, expect, test } from 'vitest';
import { createApiKeyConnector } from '../../../services/api/src/accounts/connectors/api-key.ts';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { createTestBrowser, SAYS, type Shown } from '../../harness/pages/browser.ts';
import { ADA, TOKEN_SECRET } from '../../harness/pages/setup.ts';
import { userToken } from '../../harness/tokens.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { world: start } = pagesSuite();

const PAGE = 'https://app.example.com/connected?from=parley';
const BOB = { ...ADA, userId: 'bob' };

async function world(options: WorldOptions = {}) {
  const guardedFetch = createGuardedFetch();
  const notes = createApiKeyConnector({ id: 'notes-key' }, { guardedFetch });
  return start({
    identity: createBoundIdentity(PAGE),
    services: () => ({ notes }),
    ...options,
  });
}
type World = Awaited<ReturnType<typeof world>>;

/** An unbound browser, back from the provider and on its way to the deployer's page. */
async function bound(here: World, path?: string) {
  const asked = path === undefined ? await here.ask() : { path, id: path.split('/').at(-1) ?? '' };
  const browser = createTestBrowser(here);
  const consent = await browser.open(asked.path);
  const callback = await browser.walk(await browser.submit(consent, 'start'), 'ada-at-tracker');
  return { ...asked, browser, callback, leaving: await browser.open(callback) };
}

function sessionOf({ link }: Shown): string {
  const url = new URL(link ?? '');
  expect(url.origin + url.pathname).toBe('https://app.example.com/connected');
  expect(url.searchParams.get('from')).toBe('parley');
  return url.searchParams.get('session') ?? '';
}

/** The deployer's backend binds the browser to a user. */
async function complete(here: World, session: string, who: Owner | string) {
  const token =
    typeof who === 'string'
      ? who
      : await userToken({ secret: TOKEN_SECRET, userId: who.userId, tenant: who.tenant });
  const response = await fetch(`${here.publicUrl}/auth/complete`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ session }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('where the deployer binds the browser to a user', () => {
  test('nothing takes effect before the binding, and everything after it', async () => {
    const here = await world();
    const { id, browser, path, leaving, callback } = await bound(here);
    const session = sessionOf(leaving);
    expect(session.length).toBeGreaterThanOrEqual(43);
    expect(await here.status(id)).toBe('pending');
    expect(await here.held()).toBeUndefined();
    expect((await browser.open(callback)).heading).toBe(SAYS.failed('bad_state'));

    const answer = await complete(here, session, ADA);
    expect([answer.status, answer.body.status, answer.body.elicitationId]).toEqual([200, 'accepted', id]);
    expect((await here.held())?.credential.reveal()).toMatchObject({ kind: 'oauth2' });
    const version = (await here.held())?.version;
    expect(await complete(here, session, ADA)).toMatchObject({ status: 200, body: { status: 'accepted' } });
    expect((await here.held())?.version).toBe(version);
    const shown = await browser.open(path);
    expect(shown.status).toBe(200);
    expect(shown.forms.size).toBe(0);
    expect(await here.staged()).toBe(0);
  });

  test('another user than the owner gets nothing, and does not affect the owner', async () => {
    const here = await world();
    const { id, leaving } = await bound(here);
    const session = sessionOf(leaving);
    for (const [who, status] of [
      [BOB, 404],
      [{ ...ADA, tenant: 'other' }, 404],
      ['a-service-key', 403],
      ['nonsense', 401],
    ] as const) {
      expect((await complete(here, session, who)).status).toBe(status);
    }
    expect((await complete(here, 'A'.repeat(43), ADA)).status).toBe(404);
    expect(await here.status(id)).toBe('pending');
    for (const owner of [ADA, BOB]) expect(await here.held('issues', owner)).toBeUndefined();
    expect(here.events.filter(({ type }) => type === 'mismatch')).toHaveLength(2);
    expect((await complete(here, session, ADA)).status).toBe(200);
    expect(await here.status(id)).toBe('accepted');
  });

  test('one browser does not affect another', async () => {
    const here = await world();
    const first = await bound(here);
    const stranger = createTestBrowser(here);
    const consent = await stranger.open(first.path);
    const left = await stranger.submit(consent, 'start');
    const second = await stranger.open(await stranger.walk(left, 'bob-at-tracker'));
    expect(sessionOf(second)).not.toBe(sessionOf(first.leaving));
    const third = await bound(here, first.path);
    expect((await complete(here, sessionOf(first.leaving), ADA)).status).toBe(200);
    const credential = (await here.held())?.credential.reveal();
    expect(credential?.kind === 'oauth2' && credential.accessToken.length > 0).toBe(true);
    const late = await complete(here, sessionOf(second), ADA);
    expect([late.status, late.body.status]).toEqual([200, 'accepted']);
    expect((await here.held())?.credential.reveal()).toEqual(credential);
    expect(sessionOf(third.leaving)).not.toBe(sessionOf(second));
    expect(await here.sweep(0, 0)).toBe(1);
    expect((await here.held())?.credential.reveal()).toEqual(credential);
    expect(here.tracker.revocations()).toBe(0);
  });

  test.each(['staged', 'stage', 'promote', 'drop'] as const)(
    'a call whose reply was lost at the step %s can be repeated',
    async (step) => {
      let toLose = 0;
      const here = await world({
        wrapVault: (vault) => ({
          ...vault,
          // The vaults of two pods; exactly one call executes and loses its reply.
          [step]: async (...args: never[]) => {
            const result = await (vault[step] as (...args: never[]) => Promise<unknown>)(...args);
            if (toLose === 0) return result;
            toLose -= 1;
            throw new ParleyError('unavailable', 'The reply was lost.');
          },
        }),
      });
      const { id, leaving } = await bound(here);
      toLose = 1;
      expect((await complete(here, sessionOf(leaving), ADA)).status).toBe(503);
      for (let count = 0; count < 2; count += 1) {
        const answer = await complete(here, sessionOf(leaving), ADA);
        expect([answer.status, answer.body.status]).toEqual([200, 'accepted']);
      }
      expect(await here.status(id)).toBe('accepted');
      expect((await here.held())?.state).toBe('usable');
      expect(here.tracker.revocations()).toBe(0);
      expect(await here.staged()).toBe(0);
    },
  );

  test('a decline takes effect when the browser is bound', async () => {
    const here = await world();
    const { path, id } = await here.ask();
    const browser = createTestBrowser(here);
    const leaving = await browser.submit(await browser.open(path), 'decline');
    expect(await here.status(id)).toBe('pending');
    expect((await complete(here, sessionOf(leaving), BOB)).status).toBe(404);
    expect(await here.status(id)).toBe('pending');
    const answer = await complete(here, sessionOf(leaving), ADA);
    expect([answer.status, answer.body.status]).toEqual([200, 'declined']);
    expect((await complete(here, sessionOf(leaving), ADA)).status).toBe(200);
  });

  test('a typed key waits for the binding too', async () => {
    const here = await world();
    const { path, id } = await here.ask({ toolId: 'notes' });
    const browser = createTestBrowser(here);
    const leaving = await browser.submit(await browser.open(path), 'secret', { secret: 'key-of-ada' });
    expect(await here.held('notes')).toBeUndefined();
    expect(await here.status(id)).toBe('pending');
    expect((await complete(here, sessionOf(leaving), ADA)).status).toBe(200);
    expect((await here.held('notes'))?.credential.reveal()).toEqual({ kind: 'api_key', value: 'key-of-ada' });
  });

  test('a credential that is never bound is dropped and revoked', async () => {
    const here = await world();
    const { id, leaving } = await bound(here);
    expect(await here.sweep()).toBe(0);
    expect(await here.sweep(0, 0)).toBe(1);
    expect(here.tracker.revocations()).toBe(1);
    const late = await complete(here, sessionOf(leaving), ADA);
    expect(late.status).toBe(404);
    expect(await here.status(id)).toBe('pending');
    expect(await here.held()).toBeUndefined();
  });

  test('the credential is dropped when the question was declined in the meantime, and kept when it was withdrawn', async () => {
    const here = await world();
    const [declined, withdrawn] = [await bound(here), await bound(here)];
    const caller = { kind: 'user', ...ADA } as const;
    const response = { action: 'decline' } as const;
    await here.engine.answer({ caller, id: declined.id, response, surface: 'chat' });
    const conflict = await complete(here, sessionOf(declined.leaving), ADA);
    expect([conflict.status, conflict.body.code]).toEqual([409, 'already_settled']);
    const again = await complete(here, sessionOf(declined.leaving), ADA);
    expect([again.status, again.body.code]).toEqual([409, 'already_settled']);
    expect(await here.held()).toBeUndefined();
    expect(here.tracker.revocations()).toBe(1);
    const service = { kind: 'service', tenant: ADA.tenant } as const;
    await here.engine.withdraw({ caller: service, id: withdrawn.id, reason: 'run_stopped' });
    const kept = await complete(here, sessionOf(withdrawn.leaving), ADA);
    expect([kept.status, kept.body.status]).toEqual([200, 'withdrawn']);
    expect((await here.held())?.state).toBe('usable');
    const version = (await here.held())?.version;
    const repeated = await complete(here, sessionOf(withdrawn.leaving), ADA);
    expect([repeated.status, repeated.body.status]).toEqual([200, 'withdrawn']);
    expect((await here.held())?.version).toBe(version);
  });

  test('the credential is dropped when a service ended the question by itself, on every repeated binding', async () => {
    const here = await world();
    const { id, leaving } = await bound(here);
    await here.engine.complete({ caller: { kind: 'service', tenant: ADA.tenant }, id, surface: 'api' });
    for (let count = 0; count < 2; count += 1) {
      const answer = await complete(here, sessionOf(leaving), ADA);
      expect([answer.status, answer.body.code]).toEqual([409, 'already_settled']);
    }
    expect(await here.held()).toBeUndefined();
    expect(here.tracker.revocations()).toBe(1);
  });

  test('there is no sign-in', async () => {
    const here = await world();
    const { path } = await here.ask();
    const browser = createTestBrowser(here);
    const page = await browser.open(path);
    expect([...page.forms.keys()]).toEqual(['start', 'decline']);
    const csrf = page.forms.get('start')?.fields.csrf ?? '';
    expect((await browser.post(`${path}/sign-in`, { csrf, user: 'ada' })).status).toBe(404);
    expect((await browser.open('/auth/signed-in?state=x')).status).toBe(404);
  });
});

test('where people sign in, a binding is refused', async () => {
  const here = await start();
  expect((await complete(here, 'A'.repeat(43), ADA)).status).toBe(404);
});
