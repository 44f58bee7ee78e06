import { expect, it } from 'vitest';
import { launchChromium } from '../../infra/demo/chromium.ts';
import { ADA, startWorld } from '../harness/connect/setup.ts';
import { decideAs, requestApproval } from '../harness/engines/approvals.ts';
import { describeInChromium, STILL } from '../harness/in-chromium.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { looksSound } from '../harness/widget/site-look.ts';

const STREAM = { ...ADA, streamRequestId: 'run 1' };
const TOOL = { server: 'bk-7', serverTitle: 'Bookings', name: 'bookings_cancel', title: 'Cancel a booking' };

await describeInChromium('the hosted inbox', (chromium) => {
  it('is walked by keyboard: a question is answered, a call decided, a remembered approval forgotten', async ({
    onTestFinished,
  }) => {
    const redis = await startRedis({ args: ['--appendonly', 'no'] });
    onTestFinished(() => redis.stop());
    const here = await startWorld({
      redisUrl: redis.url,
      identity: 'typed',
      deps: { brand: { title: 'Example Corporation' } },
    });
    const { row: remembered } = await requestApproval(here.engine, STREAM, { tool: TOOL });
    await decideAs(here.engine, STREAM, remembered.id, { decision: 'approve', remember: true });
    const { row: call } = await requestApproval(here.engine, STREAM, { tool: TOOL, timeoutSeconds: 300 });
    const { row: question } = await here.engine.ask({
      tenant: ADA.tenant,
      askedBy: 'billing',
      askerName: 'billing',
      input: {
        userId: ADA.userId,
        mode: 'form',
        message: 'Which seat do you want?',
        requestedSchema: { type: 'object', properties: { seat: { type: 'string' } } },
      },
    });
    const browser = await launchChromium(chromium);
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext(STILL)).newPage();
    const heading = page.getByRole('heading', { level: 1 });
    const enter = async (keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };

    await page.goto(`${here.publicUrl}/auth/inbox`);
    await page.getByLabel('User id').fill('ada');
    await enter(['Enter']);
    await expect.poll(() => heading.textContent()).toBe('Your inbox');
    expect(await page.title()).toBe('Your inbox · Example Corporation');
    await looksSound(page);
    const waiting = page.getByRole('region', { name: 'Waiting for you' });
    expect(await waiting.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'Travel desk wants to use “Cancel a booking”',
      'billing',
    ]);

    await enter(['Tab', 'Enter']);
    await expect.poll(() => page.url()).toBe(`${here.publicUrl}/auth/answer/${call.id}`);
    await looksSound(page);
    await page.getByRole('button', { name: 'Approve' }).press('Enter');
    await expect.poll(() => heading.textContent()).toBe('The call was approved');
    await enter(['Tab', 'Enter']);
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
    expect(await here.status(question.id)).toBe('accepted');
    expect(await here.engine.approvals.grants.list(ADA)).toEqual([]);
  });
});
