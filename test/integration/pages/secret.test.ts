import { createServer } from 'node:http';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApiKeyConnector } from '../../../services/api/src/accounts/connectors/api-key.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { createTestBrowser, SAYS } from '../../harness/pages/browser.ts';
import type { WorldOptions } from '../../harness/pages/setup.ts';
import { pagesSuite } from './suite.ts';

const { world, dump } = pagesSuite();

const KEY = canary('key');

/** Ada at the page for a key; the service accepts one key, and replies with `status` where that is given. */
async function begun(deps: WorldOptions['deps'] = {}) {
  let status: number | undefined;
  const service = createServer((req, res) => {
    res.writeHead(status ?? (req.headers['x-key'] === KEY ? 200 : 401)).end();
  });
  const checkUrl = `http://127.0.0.1:${await listenOnFreePort(service)}/me`;
  onTestFinished(() => void service.close());
  const options = {
    id: 'notes-key',
    label: 'Key for notes',
    help: 'Under Settings',
    header: 'x-key',
    checkUrl,
  };
  const notes = createApiKeyConnector(options, {
    guardedFetch: createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 }),
  });
  const here = await world({ services: () => ({ notes }), deps });
  const asked = await here.ask({ toolId: 'notes' });
  const browser = createTestBrowser(here);
  const page = await browser.enter(asked.path, 'ada');
  return {
    here,
    browser,
    page,
    ...asked,
    answersWith(responseStatus: number | undefined) {
      status = responseStatus;
    },
  };
}

describe('a key that the person types', () => {
  test('is stored when the service accepts it', async () => {
    const { here, browser, page, id } = await begun();
    expect(page.html).toContain('Key for notes');
    expect(page.html).toContain('Under Settings');
    const done = await browser.submit(page, 'secret', { secret: ` ${KEY}\n` });
    expect(done.heading).toBe(SAYS.connected('notes'));
    expect(await here.status(id)).toBe('accepted');
    expect((await here.held('notes'))?.credential.reveal()).toEqual({ kind: 'api_key', value: KEY });
    const texts = [...(await dump()), ...here.lines, done.html];
    expect(findCanary(KEY, texts)).toEqual([]);
  });

  test('can be typed again after a wrong, an empty and an uncheckable one, and is never displayed', async () => {
    const { here, browser, page, id, answersWith } = await begun();
    let shown = page;
    const wrong = canary('wrong');
    for (const [secret, says] of [
      ['', 'Nothing was entered'],
      ['  ', 'Nothing was entered'],
      [wrong, 'not accepted'],
    ] as const) {
      shown = await browser.submit(shown, 'secret', { secret });
      expect(shown.html).toContain(says);
    }
    answersWith(500);
    shown = await browser.submit(shown, 'secret', { secret: wrong });
    expect(shown.html).toContain('could not be checked');
    expect(findCanary(wrong, [shown.html, ...here.lines, ...(await dump())])).toEqual([]);
    expect(await here.held('notes')).toBeUndefined();
    expect(await here.status(id)).toBe('opened');
    answersWith(undefined);
    expect((await browser.submit(shown, 'secret', { secret: KEY })).heading).toBe(SAYS.connected('notes'));
    expect(await here.status(id)).toBe('accepted');
  });

  test('can be tried a limited number of times', async () => {
    const { browser, page, here, id } = await begun({ failuresMax: 2 });
    for (let count = 0; count < 2; count += 1)
      expect((await browser.submit(page, 'secret', { secret: 'guess' })).html).toContain('not accepted');
    expect((await browser.submit(page, 'secret', { secret: 'guess' })).heading).toBe(SAYS.tooMany);
    expect((await browser.submit(page, 'secret', { secret: KEY })).heading).toBe(SAYS.tooMany);
    expect(await here.status(id)).toBe('opened');
  });

  test('is not asked for where the service is connected otherwise', async () => {
    const { here, browser } = await begun();
    const { path, id } = await here.ask();
    const csrf = (await browser.open(path)).forms.get('start')?.fields.csrf ?? '';
    expect((await browser.post(`${path}/secret`, { csrf, secret: KEY })).heading).toBe(SAYS.notFound);
    expect(await here.status(id)).toBe('pending');
  });
});
