import { createClient } from '@parley/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import { type ChatPages, keptIn, openChatPages, say, textsOf, tokenOf } from '../../e2e/chat/page.ts';
import { type ChatSite, openChatSite } from '../../e2e/chat/transport-site.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Seated ${userText}.` };
  return {
    text: `Let me see, ${userText}.`,
    calls: [{ name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } }],
  };
}

await describeInChromium('the chat page, with a turn that is detached while it waits', (path) => {
  let chats: ChatSite;
  let pages: ChatPages;

  beforeAll(async () => {
    chats = await openChatSite({ script: [line], delayMs: 1, env: { PARLEY_HOLD_SECONDS: '1' } });
    pages = await openChatPages(chats.balancer.url, ['ada', 'bob'], path);
  });
  afterAll(async () => {
    await pages?.stop();
    await chats?.stop();
  });

  async function askedIn(person: string): Promise<Page> {
    const page = await pages.open(person);
    await say(page, person);
    await keptIn(page, ['waiting']);
    return page;
  }

  const toldIn = async (page: Page) => textsOf((await keptIn(page, ['finished'])).at(-1));

  it('continues by itself once the question is answered in its card', async () => {
    const page = await askedIn('ada');
    await page.getByRole('textbox', { name: /answer/i }).fill('12A');
    await page
      .getByRole('button', { name: /send|answer|submit/i })
      .first()
      .click();
    expect(await toldIn(page)).toEqual(['Let me see, ada.', 'Seated ada.']);
    await page.context().close();
  });

  it('continues after a reload, when the answer comes from elsewhere', async () => {
    const page = await askedIn('bob');
    await page.reload();
    await keptIn(page, ['waiting']);
    const client = createClient({ baseUrl: chats.balancer.url, token: await tokenOf('bob') });
    const [asked] = (await client.list().page()).elicitations;
    await client.answer(asked?.elicitationId ?? '', { action: 'accept', content: { answer: '14C' } });
    expect(await toldIn(page)).toEqual(['Let me see, bob.', 'Seated bob.']);
    await page.context().close();
  });
});
