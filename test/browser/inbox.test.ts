import { expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../demo/chromium.ts';
import { decideAs, requestApproval } from '../harness/engines/approvals.ts';
import { describeInChromium, STILL } from '../harness/in-chromium.ts';
import { ADA, startWorld, type World } from '../harness/pages/setup.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
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

    expect(await page.title()).toBe('Your inbox · Example Corporation');
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
});
