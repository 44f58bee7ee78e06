import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { type ConsoleSite, openConsoleSite } from '../../harness/console/site.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { adminOf, openConsole, talkOf } from './setup.ts';

interface ReadTurn {
  readonly state: string;
  readonly pod?: string;
  readonly takeOvers: number;
}

await describeInChromium('the console while pods are killed', (chromium) => {
  let site: ConsoleSite;
  beforeAll(async () => {
    site = await openConsoleSite();
  });
  afterAll(() => site?.stop());

  async function opened(path?: string) {
    const browser = await launchChromium(chromium);
    onTestFinished(() => browser.close());
    return openConsole(browser, site, path === undefined ? {} : { path });
  }

  it('a list goes on by itself: what is asked after a kill stands in it, and what ends leaves it', async () => {
    const first = await talkOf(site, { text: 'ask', chatId: 'before' });
    const page = await opened('/console/elicitations');
    await page.getByText(first.id).waitFor();
    await site.chats.replace(1, 'SIGKILL');
    const second = await talkOf(site, { text: 'ask', chatId: 'after', pod: 1 });
    await page.getByText(second.id).waitFor();
    await site.chats.replace(0, 'SIGKILL');
    await page.getByText(second.id).waitFor();
    const path = `/v1/admin/elicitations/${first.id}`;
    const { url } = site.chats.balancer;
    const headers = { authorization: `Bearer ${site.readerKey}` };
    expect((await fetch(url + path, { method: 'DELETE', headers })).status).toBe(200);
    await page.getByText(first.id).waitFor({ state: 'detached' });
    expect(page.faults).toEqual([]);
  });

  it("answers why alice's chat hangs, and ends it, while its pods die", async () => {
    const { userId, turn, authorization } = await talkOf(site, {
      text: 'lead',
      chatId: 'trip',
      agent: 'lead',
      pod: 2,
    });
    const admin = adminOf(site);
    const read = () => admin<ReadTurn>(`/turns/${turn}?userId=${userId}`);
    const kill = async () => {
      const { pod, takeOvers: before } = await read();
      await site.chats.replace(Number(pod), 'SIGKILL');
      await waitUntil(async () => (await read()).takeOvers > before, {
        what: 'another pod to take the turn over',
      });
    };
    await kill();
    const page = await opened();

    // What waits for her?
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('User id').fill(userId);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'The agent asked' }).waitFor();
    // Why, and how did it get there?
    const turns = page.getByRole('region', { name: 'Turns' });
    await turns.getByRole('link', { name: 'lead', exact: true }).click();
    await page.getByText('of its pods died before').waitFor();
    const picture = page.getByRole('img', { name: /^Timeline of the turn/ });
    await picture.waitFor();
    const takeOvers = picture.locator('.takeover');
    const before = await takeOvers.count();
    expect(before).toBeGreaterThan(0);
    await kill();
    await expect.poll(() => takeOvers.count()).toBeGreaterThan(before);
    await page.getByText('Waits: The agent asked').waitFor();
    // End it.
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog', { name: 'Stop the turn?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The turn stops.').waitFor();
    await page.locator('.facts').getByText('Stopped').waitFor();
    await site.chats.untilOver(authorization, 'trip');
    expect(page.faults).toEqual([]);
  });
});
