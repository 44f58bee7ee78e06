import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { keptIn, say, textsOf } from '../e2e/chat-page.ts';
import { describeInChromium } from '../harness/in-chromium.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { loseReply, type Move, refuse, stream, textOfLines } from '../unit/sdk-chat-server.ts';
import { openScriptedPages, passTime, type ScriptedPages, textIn, turnOf } from './chat-page-site.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const told = (messageId: string, text: string, finish?: string): Move =>
  stream(textOfLines(turnOf(messageId, textIn(text), finish)));
const busy = refuse(503, 'unavailable', '0');
const lost = 'The agent could not be reached.';

await describeInChromium('the chat page, in trouble', (path) => {
  let pages: ScriptedPages;
  let page: Page;
  let before: number;

  beforeAll(async () => {
    pages = await openScriptedPages(path);
  });
  afterAll(() => pages?.stop());
  beforeEach(async () => {
    pages.will();
    pages.always(told('other', 'Something else.'));
    page = await pages.open('ada');
    before = pages.sent().length;
    return () => page.context().close();
  });

  const sent = () => pages.sent().slice(before);
  const keys = () => sent().map(({ key }) => key);
  const stopping = () => page.getByRole('button', { name: 'Stop' }).click();
  const replied = async (...states: string[]) => {
    const reply = (await keptIn(page, states)).at(-1);
    return { state: reply?.state, texts: textsOf(reply) };
  };
  const sends = (times: number) => waitUntil(() => sent().length >= times, { what: `${times} messages` });

  /** From now on the page's time passes only when told to; its chance is always a half. */
  async function holdTime() {
    await page.clock.install();
    await page.addInitScript(() => {
      Math.random = () => 0.5;
      const sentAt: number[] = [];
      const { fetch } = globalThis;
      Object.assign(globalThis, {
        sentAt,
        fetch(input: string, init?: RequestInit) {
          if (input === '/run/api/chat') sentAt.push(Date.now());
          return fetch(input, init);
        },
      });
    });
    await page.reload();
    await page.getByText('You are ada.').waitFor();
  }
  const gaps = () =>
    page.evaluate(() => {
      const { sentAt } = globalThis as unknown as { readonly sentAt: readonly number[] };
      return sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
    });

  it('sends a message again after a reload, and shows its own reply, not the one before', async () => {
    pages.will(told('one', 'First reply.'), () => undefined, told('two', 'Second reply.'));
    await say(page, 'one');
    await replied('finished');
    await say(page, 'two');
    await sends(2);
    await page.reload();
    const kept = await keptIn(page, ['finished']);
    expect(kept.map(textsOf)).toEqual([['one'], ['First reply.'], ['two'], ['Second reply.']]);
    expect(sent().map(({ text }) => text)).toEqual(['one', 'two', 'two']);
    const [one, two, again] = keys();
    expect(again).toBe(two);
    expect(one).not.toBe(two);
  });

  it('sends a message again under its key when its reply is lost or refused', async () => {
    pages.will(loseReply, busy, refuse(429, 'rate_limited', '0'), told('one', 'Here.'));
    await say(page, 'hello');
    expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
    expect([keys().length, new Set(keys()).size]).toEqual([4, 1]);
  });

  it('leaves a card where it is while the turn is told again', async () => {
    const data = {
      v: 1,
      elicitationId: 'el_1',
      status: 'pending',
      mode: 'form',
      message: 'Which seat?',
      title: 'Seat',
      requestedSchema: { type: 'object', properties: { seat: { type: 'string', title: 'Seat number' } } },
      createdAt: new Date().toISOString(),
      expiresAt: new Date(Date.now() + 600_000).toISOString(),
    };
    const lines = turnOf('one', [
      ...textIn('Let me see.'),
      { type: 'data-elicitation-request', id: 'el_1', data },
      ...textIn('Seated.'),
    ]);
    let cut = () => {};
    pages.will(
      (res, call) => {
        cut = () => res.destroy();
        stream(textOfLines(lines.slice(0, 4)), 'open')(res, call);
      },
      stream(textOfLines(lines)),
    );
    await say(page, 'a seat');
    const field = page.getByLabel('Seat number');
    await field.pressSequentially('12');
    cut();
    expect(await replied('finished')).toMatchObject({ texts: ['Let me see.', 'Seated.'] });
    await page.keyboard.type('A');
    expect(await field.inputValue()).toBe('12A');
  });

  describe('Stop', () => {
    it('ends the sending of a message that is refused', async () => {
      pages.always(busy);
      await say(page, 'delete all');
      await sends(2);
      await stopping();
      expect(await replied('stopped', 'finished', 'failed')).toEqual({ state: 'stopped', texts: [] });
      pages.always(told('next', 'Hello.'));
      const [key] = keys();
      const tried = keys().length;
      await say(page, 'hello');
      await replied('finished');
      expect([keys().length, keys().lastIndexOf(key ?? '')]).toEqual([tried + 1, tried - 1]);
    });

    it('stops a turn that may have begun unseen', async () => {
      const stops = pages.stops();
      pages.always(loseReply);
      await say(page, 'delete all');
      await sends(1);
      await stopping();
      expect(await replied('stopped', 'finished', 'failed')).toMatchObject({ state: 'stopped' });
      expect(pages.stops()).toBe(stops + 1);
    });

    it('stops a turn that begins after it was pressed', async () => {
      const stops = pages.stops();
      let begin = () => {};
      pages.will((res, call) => {
        begin = () => stream(textOfLines(turnOf('one', textIn('I begin.')).slice(0, 3)), 'open')(res, call);
      });
      await say(page, 'delete all');
      await sends(1);
      await stopping();
      begin();
      await waitUntil(() => pages.stops() === stops + 1, { what: 'the turn to be stopped' });
    });
  });

  it('tries for a minute at growing distances; then says so, and tries again when told to', async () => {
    await holdTime();
    pages.always(busy);
    await say(page, 'hello');
    const again = page.getByRole('button', { name: 'Try again' });
    await passTime(page, 'the page to give up', () => again.isVisible());
    const all = await gaps();
    const planned = [250, 500, 1_000, 2_000];
    expect(all.length).toBeGreaterThan(planned.length);
    for (const [at, gap] of all.entries())
      expect(gap, `pause ${at}`).toBeGreaterThanOrEqual(planned[at] ?? 4_000);
    const whole = all.reduce((sum, gap) => sum + gap, 0);
    expect(whole).toBeGreaterThan(45_000);
    expect(whole).toBeLessThan(120_000);
    expect(await page.locator('article').getByText(lost).count()).toBe(1);
    pages.always(told('one', 'Here.'));
    await again.click();
    expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
    expect(new Set(keys()).size).toBe(1);
    expect(await again.isVisible()).toBe(false);
  });

  it('waits for as long as the server asks for', async () => {
    await holdTime();
    pages.will(refuse(503, 'unavailable', '20'), told('one', 'Here.'));
    await say(page, 'hello');
    await passTime(page, 'the second try', () => sent().length === 2);
    const [gap] = await gaps();
    expect(gap).toBeGreaterThanOrEqual(20_250);
  });

  test.each<[string, Move]>([
    ['before its first byte', () => undefined],
    ['in the middle', stream(textOfLines(turnOf('one', textIn('Let me')).slice(0, 3)), 'open')],
  ])('leaves a connection that falls silent %s', async (_, silent) => {
    await holdTime();
    pages.will(silent, told('one', 'Let me see.'));
    await say(page, 'hello');
    await passTime(page, 'the second try', () => sent().length === 2);
    expect((await gaps())[0]).toBeGreaterThanOrEqual(45_000);
    expect(await replied('finished')).toMatchObject({ texts: ['Let me see.'] });
    expect(new Set(keys()).size).toBe(1);
  });

  test.each([
    ['other', 'stopped', 'Stopped.'],
    ['tool-calls', 'out-of-steps', 'The agent took as many steps as it may, and ended before it was done.'],
    ['length', 'too-long', 'This answer became too long, and was cut off.'],
    ['content-filter', 'withheld', 'The rest of this answer was withheld.'],
  ])('says why a turn has ended: %s', async (finish, state, words) => {
    pages.will(told('one', 'I began', finish));
    await say(page, 'hello');
    expect(await replied(state)).toEqual({ state, texts: ['I began'] });
    await page.locator('article.assistant').getByText(words).waitFor();
    expect(await page.locator('#status').textContent()).toBe(`The agent says: I began ${words}`);
  });
});
