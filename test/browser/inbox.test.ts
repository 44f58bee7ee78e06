import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../demo/chromium.ts';
import { decideAs, requestApproval } from '../harness/engines/approvals.ts';
import { describeInChromium, STILL } from '../harness/in-chromium.ts';
import { ADA, startWorld, type World } from '../harness/pages/setup.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { nextMillisecond } from '../harness/wait-until.ts';
import { looksSound } from '../harness/widget/site-look.ts';

const STREAM = { ...ADA, streamRequestId: 'run 1' };
const TOOL = { server: 'bk-7', serverTitle: 'Bookings', name: 'bookings_cancel', title: 'Cancel a booking' };

await describeInChromium('the hosted inbox', (chromium) => {
  /** Where Ada has what `prepare` asks her, and her browser, in which nobody has signed in. */
  async function opened(prepare: (here: World) => Promise<void>) {
    const redis = await startRedis({ args: ['--appendonly', 'no'] });
    onTestFinished(() => redis.stop());
    const deps = { brand: { title: 'Example Corporation' } };
    const here = await startWorld({ redisUrl: redis.url, identity: 'typed', deps });
    await prepare(here);
    const browser = await launchChromium(chromium);
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext(STILL)).newPage();
    await page.goto(`${here.publicUrl}/auth/inbox`);
    await page.getByLabel('User id').fill('ada');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    return { here, page, heading: page.getByRole('heading', { level: 1 }) };
  }

  it('is walked by keyboard: a question is answered, a call decided, a remembered approval forgotten', async () => {
    let call = '';
    let question = '';
    const { here, page, heading } = await opened(async ({ engine }) => {
      const { row: remembered } = await requestApproval(engine, STREAM, { tool: TOOL });
      await decideAs(engine, STREAM, remembered.id, { decision: 'approve', remember: true });
      call = (await requestApproval(engine, STREAM, { tool: TOOL, timeoutSeconds: 300 })).row.id;
      const requestedSchema = { type: 'object', properties: { seat: { type: 'string' } } } as const;
      const input = {
        userId: ADA.userId,
        mode: 'form',
        message: 'Which seat do you want?',
        requestedSchema,
      } as const;
      question = (await engine.ask({ tenant: ADA.tenant, askerName: 'billing', input })).row.id;
    });
    const enter = async (keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };

    expect(await page.title()).toBe('(2) Your inbox · Example Corporation');
    await looksSound(page);
    const waiting = page.getByRole('region', { name: 'Waiting for you' });
    expect(await waiting.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'Travel desk wants to use “Cancel a booking”',
      'billing',
    ]);

    await enter(['Tab', 'Enter']);
    await expect.poll(() => page.url()).toBe(`${here.publicUrl}/auth/answer/${call}?inbox`);
    await looksSound(page);
    await page.getByRole('button', { name: 'Approve' }).press('Enter');
    await expect.poll(() => heading.textContent()).toBe('Your inbox');

    await enter(['Tab', 'Enter']);
    await page.getByLabel('seat').fill('window');
    await enter(['Enter']);
    await expect.poll(() => heading.textContent()).toBe('Your answer was recorded');
    await enter(['Tab', 'Enter']);
    await waiting.getByText('Nothing waits for you.').waitFor();

    const forget = page.getByRole('button', { name: 'Forget the approval of Cancel a booking' });
    await forget.press('Enter');
    await page.getByText('There are none. Agents ask you each time.').waitFor();
    await looksSound(page);
    expect(await here.status(question)).toBe('accepted');
    expect(await here.engine.approvals.grants.list(ADA)).toEqual([]);
  });

  it('clears a hundred approvals with at most a hundred keys: 80 in groups, 20 by themselves', async () => {
    const ids: string[] = [];
    const { here, page, heading } = await opened(async ({ engine }) => {
      const kinds = ['high', 'medium', 'medium', 'low', 'low'] as const;
      for (const [kind, risk] of kinds.entries())
        for (let at = 0; at < 20; at += 1) {
          const definition = {
            tool: TOOL,
            risk,
            rule: `rule ${kind}`,
            arguments: { booking: `${kind}-${at}` },
          };
          ids.push(
            (
              await requestApproval(engine, STREAM, {
                ...definition,
                masked: [],
                remember: undefined,
              } as never)
            ).row.id,
          );
        }
    });
    let keys = 0;
    const press = async (key: string) => {
      keys += 1;
      await page.keyboard.press(key);
    };
    const onward = async (button: string) => {
      const before = page.url();
      do await press('Tab');
      while (!(await page.evaluate(() => document.activeElement?.textContent ?? '')).startsWith(button));
      await Promise.all([page.waitForURL(({ href }) => href !== before), press('Enter')]);
    };

    await onward('Decide');
    const titles: unknown[] = [];
    for (let step = 0; step < 24; step += 1) {
      titles.push(await heading.textContent());
      if (step === 20) await looksSound(page);
      await onward('Approve');
    }
    expect(new Set(titles.slice(0, 20))).toEqual(new Set(['Travel desk wants to use “Cancel a booking”']));
    expect(new Set(titles.slice(20))).toEqual(
      new Set(['Travel desk wants to use “Cancel a booking” 20 times']),
    );
    await page.getByText('Nothing waits for you.').waitFor();
    expect(keys).toBeLessThanOrEqual(100);
    const caller = { kind: 'user', ...ADA } as const;
    for (const id of ids) expect((await here.engine.approvals.read(caller, id)).row.status).toBe('approved');
  });

  describe('that is open', () => {
    const EVENTS = '/auth/inbox/events';
    const HIGH = { tool: TOOL, risk: 'high' } as const;
    const items = (page: Page) => page.getByRole('region', { name: 'Waiting for you' }).getByRole('listitem');

    /** Marks the element with the focus; `isSame` is true while the page was not loaded again and the element has the focus. */
    async function holdFocus(page: Page) {
      await page.evaluate(() => Object.assign(globalThis, { held: document.activeElement }));
      return () => page.evaluate(() => (globalThis as { held?: unknown }).held === document.activeElement);
    }

    /** What the browser refuses by the policy of the page. */
    function violationsOn(page: Page): string[] {
      const violations: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/u.test(message.text())) violations.push(message.text());
      });
      return violations;
    }

    it('shows by itself what begins and what ends, also after the loss of a pod, until the sign-out', async () => {
      const calls: string[] = [];
      const { here, page } = await opened(async ({ engine }) => {
        for (const timeoutSeconds of [3_000, 4_000])
          calls.push((await requestApproval(engine, STREAM, { ...HIGH, timeoutSeconds })).row.id);
      });
      const violations = violationsOn(page);
      expect(await page.title()).toBe('(2) Your inbox · Example Corporation');
      await expect.poll(() => here.podsServing(EVENTS)).toHaveLength(1);
      await page.keyboard.press('Tab');
      const isSame = await holdFocus(page);

      // What ends first comes before the item with the focus, which stays where it is.
      await requestApproval(here.engine, STREAM, { ...HIGH, timeoutSeconds: 1_000 });
      await expect.poll(() => items(page).count()).toBe(3);
      await page.getByText('3 things wait for you.').waitFor();
      expect(await page.title()).toBe('(3) Your inbox · Example Corporation');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toContain(calls[0]);
      expect(await items(page).nth(1).getByRole('link').getAttribute('href')).toContain(calls[0]);

      // An item that ends disappears, but for the one with the focus, which says how it ended.
      for (const id of calls) await decideAs(here.engine, STREAM, id, { decision: 'deny' });
      await items(page).getByText('The call was denied').waitFor();
      await page.getByText('One thing waits for you.').waitFor();
      await expect.poll(() => items(page).count()).toBe(2);
      expect(await isSame()).toBe(true);
      await looksSound(page);
      await page.keyboard.press('Shift+Tab');
      await expect.poll(() => items(page).count()).toBe(1);

      // Two calls that are one item end at 100 s, and at 900 s once the first is decided: the item moves behind another one.
      const more: string[] = [];
      for (const [rule, timeoutSeconds] of [
        ['two', 100],
        ['two', 900],
        ['one', 500],
      ] as const)
        more.push(
          (await requestApproval(here.engine, STREAM, { tool: TOOL, risk: 'low', rule, timeoutSeconds })).row
            .id,
        );
      await page.getByText('4 things wait for you.').waitFor();
      const [first = '', second = '', other = ''] = more;
      await items(page).nth(2).getByRole('link').focus();
      const isStill = await holdFocus(page);
      await decideAs(here.engine, STREAM, first, { decision: 'deny' });
      await page.getByText('3 things wait for you.').waitFor();
      expect(await items(page).nth(1).getByRole('link').getAttribute('href')).toContain(other);
      expect(await items(page).nth(2).getByRole('link').getAttribute('href')).toContain(second);
      expect(await isStill()).toBe(true);
      await page.getByRole('link', { name: 'Look again' }).focus();
      for (const id of [second, other]) await decideAs(here.engine, STREAM, id, { decision: 'deny' });
      await page.getByText('One thing waits for you.').waitFor();

      for (const at of here.podsServing(EVENTS)) here.losePod(at);
      await requestApproval(here.engine, STREAM, { ...HIGH, timeoutSeconds: 2_000 });
      await page.getByText('2 things wait for you.').waitFor();

      // A page that nobody sees has no stream, and shows what it has missed once it is seen again.
      const see = (isSeen: boolean) =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, !isSeen);
      await see(false);
      await expect.poll(() => here.podsServing(EVENTS)).toEqual([]);
      await requestApproval(here.engine, STREAM, { ...HIGH, timeoutSeconds: 2_500 });
      await see(true);
      await page.getByText('3 things wait for you.').waitFor();

      const elsewhere = await page.context().newPage();
      await elsewhere.goto(page.url());
      await elsewhere.getByRole('button', { name: 'Sign out' }).click();
      await elsewhere.getByLabel('User id').waitFor();
      await requestApproval(here.engine, STREAM, HIGH);
      await page.locator('[role=status]', { hasText: 'You are not signed in any more.' }).waitFor();
      expect(await items(page).count()).toBe(3);
      expect(violations).toEqual([]);
    });

    it('keeps the choice that is made in a group of calls, and checks no call that nobody has read', async () => {
      const calls: string[] = [];
      const request = (engine: World['engine'], booking: string) =>
        requestApproval(engine, STREAM, { tool: TOOL, risk: 'low', arguments: { booking }, masked: [] });
      const { here, page, heading } = await opened(async ({ engine }) => {
        for (const booking of ['B-1', 'B-2', 'B-3']) {
          calls.push((await request(engine, booking)).row.id);
          await nextMillisecond();
        }
      });
      const violations = violationsOn(page);
      await page.getByRole('link', { name: 'Decide together' }).click();
      await expect.poll(() => here.podsServing(EVENTS)).toHaveLength(1);
      const checked = () =>
        page.getByRole('checkbox').evaluateAll((all) => all.map((box) => (box as HTMLInputElement).checked));
      const second = page.getByLabel('Call 2');
      await second.press('Space');
      const isSame = await holdFocus(page);

      calls.push((await request(here.engine, 'B-4')).row.id);
      await page.getByRole('listitem').getByText('New, and not checked').waitFor();
      expect(await checked()).toEqual([true, false, true, false]);
      expect(await heading.textContent()).toContain('4 times');
      expect(await page.title()).toContain('4 times');
      await decideAs(here.engine, STREAM, calls[0] ?? '', { decision: 'deny' });
      await page.getByRole('listitem').getByText('The call was denied').waitFor();
      expect(await checked()).toEqual([false, false, true, false]);
      expect(await heading.textContent()).toContain('3 times');
      expect(await page.getByRole('status').textContent()).toContain('Some of these calls have ended');
      expect(await isSame()).toBe(true);
      // What has ended cannot be chosen.
      await page.getByLabel('Call 1').press('Space');
      expect(await checked()).toEqual([false, false, true, false]);
      await looksSound(page);

      await page.getByRole('button', { name: 'Approve' }).press('Enter');
      await expect.poll(() => heading.textContent()).toBe('Your inbox');
      const caller = { kind: 'user', ...ADA } as const;
      const statuses = calls.map(async (id) => (await here.engine.approvals.read(caller, id)).row.status);
      expect(await Promise.all(statuses)).toEqual(['denied', 'pending', 'approved', 'pending']);
      expect(violations).toEqual([]);
    });

    it('lets nobody choose a call of which the page says something else by now, because newer ones crowd it out', async () => {
      const request = (engine: World['engine'], recipient: string) =>
        requestApproval(engine, STREAM, { tool: TOOL, risk: 'low', arguments: { recipient }, masked: [] });
      const crowd = Array.from({ length: 300 }, () => 'bob');
      const early: string[] = [];
      const { here, page } = await opened(async ({ engine }) => {
        for (const recipient of ['mallory', 'mallory']) early.push((await request(engine, recipient)).row.id);
      });
      await page.getByRole('link', { name: 'Decide together' }).click();
      await expect.poll(() => here.podsServing(EVENTS)).toHaveLength(1);
      // One after another: this process is the pods, too, and their calls of Redis end in time.
      const late: Awaited<ReturnType<typeof request>>[] = [];
      for (const recipient of crowd) late.push(await request(here.engine, recipient));
      await page.getByRole('listitem').getByText('Too much waits for you').nth(1).waitFor();
      await page.getByText('bob').first().waitFor();
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);

      // There is room again.
      const deny = (id: string) => decideAs(here.engine, STREAM, id, { decision: 'deny' });
      for (const { row } of late.slice(1)) await deny(row.id);
      await page
        .getByRole('listitem')
        .getByText('Too much waits for you')
        .first()
        .waitFor({ state: 'detached' });
      await page.locator(`input[name][value="${early[0]}"]`).check();
    });
  });
});
