import type { Browser, Page } from 'playwright-core';
import { createChatClient, SECRET } from '../../test/harness/chat/client.ts';
import { openConsoleSite } from '../../test/harness/console/site.ts';
import { userToken } from '../../test/harness/tokens.ts';
import { waitUntil } from '../../test/harness/wait-until.ts';

const WIDTH = 1280;
const USER = 'alice';

/** Draws the pictures of docs/operations.md for a chat that hangs after its pod was killed. `save` gets a name without its extension, and the page. */
export async function drawConsole(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  const site = await openConsoleSite();
  try {
    const { say } = createChatClient((pod) => site.chats.pods[pod]?.url ?? '');
    const authorization = `Bearer ${await userToken({ secret: SECRET, userId: USER })}`;
    await say({ authorization, text: 'lead', chatId: 'trip-7', agent: 'lead' });
    const url = site.publicUrl;
    const page = await browser.newPage({ reducedMotion: 'reduce', locale: 'en-GB' });
    for (const cookie of (await site.sessionOf('olivia')).split('; ')) {
      const [name = '', value = ''] = cookie.split('=', 2);
      await page.context().addCookies([{ name, value, url }]);
    }
    const show = async (name: string, height: number) => {
      await page.setViewportSize({ width: WIDTH, height });
      await page.evaluate(() => scrollTo(0, 0));
      await save(`console-${name}`, page);
    };
    await page.goto(`${url}/console/people/${USER}`);
    await page.getByText('The agent asked').waitFor();
    await site.chats.replace(await site.chats.ownerOf(authorization, 'trip-7'), 'SIGKILL');
    const turns = page.getByRole('region', { name: 'Turns' });
    const takenOver = turns.getByRole('row', { name: 'lead' }).getByRole('cell', { name: '1', exact: true });
    await waitUntil(async () => (await takenOver.count()) > 0, { what: 'the take-over' });
    await show('person', 640);
    await turns.getByRole('link', { name: 'lead', exact: true }).click();
    await page.locator('.takeover').first().waitFor();
    await show('turn', 900);
    await page.getByRole('button', { name: 'Stop' }).click();
    await show('stop', 480);
    await page.context().close();
  } finally {
    await site.stop();
  }
}
