import { createClient } from '@parley/sdk';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import {
  type ChatPages,
  keptIn,
  openChatPages,
  type PageParts,
  say,
  textsOf,
  tokenOf,
} from '../../harness/chat/page.ts';
import { type ChatSite, openChatSite } from '../../harness/chat/transport-site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import { newPage } from './site.ts';

function line({ userText, results }: Turn): ScriptedReply {
  if (userText.startsWith('No')) return { text: 'As you like.' };
  if (userText.startsWith('Book')) {
    if (results.length > 0) return { text: `Booked: ${results.map(({ text }) => text).join(' | ')}.` };
    const names = userText.split(' ').slice(1);
    return {
      text: 'One moment.',
      calls: names.map((name) => ({ name: 'bookings__book', arguments: { name, round: 0 } })),
    };
  }
  if (results.length > 0) return { text: `Seated ${userText}.` };
  return {
    text: `Let me see, ${userText}.`,
    calls: [{ name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } }],
  };
}

/** A turn whose stream has ended while its person is asked. */
export function whileWaiting(parts: () => PageParts): void {
  let chats: ChatSite;
  let pages: ChatPages;
  let page: Page;

  beforeAll(async () => {
    chats = await openChatSite({
      script: [line],
      delayMs: 1,
      pods: 2,
      env: { PARLEY_HOLD_SECONDS: '1' },
      hasDesk: true,
      defaultAgent: 'desk',
    });
    pages = await openChatPages(chats.balancer.url, ['ada', 'bob', 'eve', 'fay', 'gil', 'hal'], parts());
    page = await newPage(parts());
  });
  afterAll(async () => {
    await pages?.stop();
    await chats?.stop();
  });

  async function ask(person: string): Promise<void> {
    await pages.open(person, page);
    await say(page, person);
    await keptIn(page, ['waiting']);
  }

  async function answerElsewhere(person: string): Promise<void> {
    const client = createClient({ baseUrl: chats.balancer.url, token: await tokenOf(person) });
    const [asked] = (await client.list().page()).elicitations;
    await client.answer(asked?.elicitationId ?? '', { action: 'accept', content: { answer: '14C' } });
  }

  const told = async () => textsOf((await keptIn(page, ['finished'])).at(-1));

  it('continues by itself once the question is answered in its card', async () => {
    await ask('ada');
    await page.getByRole('textbox', { name: /answer/i }).fill('12A');
    await page
      .getByRole('button', { name: /send|answer|submit/i })
      .first()
      .click();
    expect(await told()).toEqual(['Let me see, ada.', 'Seated ada.']);
  });

  it('shows calls to approve in one card where they stand, also after a reload, and continues once all are decided', async () => {
    await pages.open('fay', page);
    await say(page, 'Book fay-1 fay-2');
    await keptIn(page, ['waiting']);
    await page.reload();
    const card = page.locator('article.assistant approval-card');
    await card.getByText('fay-1').first().waitFor();
    await looksSound(page);
    await expect
      .poll(() => page.locator('.tool .tool-state').allInnerTexts())
      .toEqual(['waits for your approval', 'waits for your approval']);
    const [first, second] = [card.locator('[part=call]').nth(0), card.locator('[part=call]').nth(1)];
    await second.getByRole('button', { name: 'Deny', exact: true }).click();
    await second.getByRole('textbox').fill('One is enough.');
    await second.getByRole('button', { name: 'Deny', exact: true }).last().click();
    await expect.poll(() => page.locator('.tool .tool-state').allInnerTexts()).toContain('denied');
    expect(chats.booked.filter((name) => name.startsWith('fay'))).toEqual([]);
    // The button works once it has been in view for a second; a click waits for that.
    const approve = first.getByRole('button', { name: 'Approve', exact: true });
    const isBooked = async () => {
      if (!chats.booked.includes('fay-1')) await approve.click({ timeout: 10_000 }).catch(() => undefined);
      return chats.booked.includes('fay-1');
    };
    await waitUntil(isBooked, { what: 'the approved call', timeoutMs: 60_000, everyMs: 250 });
    const texts = await told();
    expect(texts[0]).toBe('One moment.');
    expect(texts[1]).toMatch(/^Booked: booked for fay-1 .*One is enough/);
    expect(chats.booked.filter((name) => name.startsWith('fay'))).toEqual(['fay-1']);
    await expect.poll(() => page.locator('.tool .tool-state').allInnerTexts()).toEqual(['done', 'denied']);
  });

  it('takes a message while calls wait: it denies them, and is answered', async () => {
    await pages.open('hal', page);
    await say(page, 'Book hal-1 hal-2');
    await keptIn(page, ['waiting']);
    await page.getByText('A message denies what waits.').waitFor();
    await looksSound(page);
    await say(page, 'Not today.');
    expect(await told()).toEqual(['As you like.']);
    await expect.poll(() => page.locator('.tool .tool-state').allInnerTexts()).toEqual(['denied', 'denied']);
    await page
      .locator('approval-card')
      .getByRole('button', { name: 'Approve' })
      .first()
      .waitFor({ state: 'hidden' });
    expect(await page.getByText('A message denies what waits.').isVisible()).toBe(false);
    expect(chats.booked.filter((name) => name.startsWith('hal'))).toEqual([]);
    await page.reload();
    const kept = (await keptIn(page, ['finished'])).map(textsOf);
    expect(kept).toEqual([['Book hal-1 hal-2'], ['One moment.'], ['Not today.'], ['As you like.']]);
  });

  it('renames and deletes its chat by the keyboard, with all that waits in it', async () => {
    await ask('gil');
    const client = createClient({ baseUrl: chats.balancer.url, token: await tokenOf('gil') });
    const openOnes = async () => (await client.list().page()).elicitations.map(({ status }) => status);
    expect(await openOnes()).toEqual(['pending']);
    const press = async (name: string, key: string) => {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press(key);
    };
    await page.locator('#chats summary').focus();
    await page.keyboard.press('Enter');
    await press('Rename gil', 'Enter');
    await page.keyboard.type('A seat for <b>Gil</b>');
    await looksSound(page);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'A seat for <b>Gil</b>' }).waitFor();
    await press('Delete A seat for <b>Gil</b>', 'Enter');
    await page.getByText('Nothing of it will be left.').waitFor();
    await looksSound(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'A seat for <b>Gil</b>' }).waitFor();
    await page.keyboard.press('Enter');
    await press('Delete', 'Enter');
    await page.getByText('No chats yet.').waitFor();
    expect(await openOnes()).toEqual([]);
    await page.getByText('How can I help?').waitFor();
    await page.reload();
    await page.getByText('How can I help?').waitFor();
  });

  it('continues after a reload, when the answer comes from elsewhere', async () => {
    await ask('bob');
    await page.reload();
    await keptIn(page, ['waiting']);
    await answerElsewhere('bob');
    expect(await told()).toEqual(['Let me see, bob.', 'Seated bob.']);
  });

  it('continues when the answer comes while the reply is read again after a reload', async () => {
    await ask('eve');
    let isRead = false;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holdOnce = async (route: Route) => {
      const response = await route.fetch();
      isRead = true;
      await held;
      await route.fulfill({ response });
    };
    await page.route('**/run/api/chat/*/stream', holdOnce, { times: 1 });
    await page.reload();
    await waitUntil(() => isRead, { what: 'the reply from before the answer' });
    await page.locator('elicitation-card[data-state=pending]').waitFor();
    await answerElsewhere('eve');
    await page.locator('elicitation-card[data-state=elsewhere]').waitFor();
    release();
    expect(await told()).toEqual(['Let me see, eve.', 'Seated eve.']);
  });
}
