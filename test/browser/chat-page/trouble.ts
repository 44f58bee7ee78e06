import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { loseReply, refuse, stream, textOfLines } from '../../harness/chat/chat-server.ts';
import { keptIn, say, textsOf } from '../../harness/chat/page.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  busy,
  completeTurn,
  type ForEachTest,
  gapsOf,
  passTime,
  repliedIn,
  type ScriptedPage,
  textIn,
  turnOf,
} from './site.ts';

const unreached = 'The agent could not be reached.';

/** Failures of the server and of the network. */
export function inTrouble(forEachTest: ForEachTest): void {
  let pages: ScriptedPage['pages'];
  let page: ScriptedPage['page'];
  let sent: ScriptedPage['sent'];
  const give = (opened: ScriptedPage) => {
    ({ pages, page, sent } = opened);
    pages.always(completeTurn('other', 'Something else.'));
  };

  const keys = () => sent().map(({ key }) => key);
  const replied = (...states: string[]) => repliedIn(page, ...states);
  const sends = (times: number) => waitUntil(() => sent().length >= times, { what: `${times} messages` });

  describe('that pass', () => {
    forEachTest(give);

    it('sends a message again after a reload, and shows its own reply, not the one before', async () => {
      pages.will(completeTurn('one', 'First reply.'), () => undefined, completeTurn('two', 'Second reply.'));
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

    it('takes no message before its scripts can send it', async () => {
      pages.will(completeTurn('one', 'Here.'));
      const held: Route[] = [];
      await page.route('**/session*', (route) => void held.push(route), { times: 1 });
      // Its scripts wait for the reply that is held, and the load of the page for its scripts.
      await page.reload({ waitUntil: 'commit' });
      await waitUntil(() => held.length === 1, { what: 'the page to ask who its person is' });
      expect(await page.locator('#words').isDisabled()).toBe(true);
      await held[0]?.continue();
      await say(page, 'hello');
      expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
    });

    it('sends a message again with its key when its reply is lost or refused', async () => {
      pages.will(loseReply, busy, refuse(429, 'rate_limited', '0'), completeTurn('one', 'Here.'));
      await say(page, 'hello');
      expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
      expect([keys().length, new Set(keys()).size]).toEqual([4, 1]);
    });

    it('keeps a card in place while the turn is replayed', async () => {
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

    it('shows the error of a server that asks for too long a delay or is busy, and lets the person try again', async () => {
      for (const refused of [refuse(429, 'rate_limited', '300'), refuse(409, 'turn_running')]) {
        const before = keys().length;
        pages.will(refused, completeTurn('one', 'Here.'));
        await say(page, 'hello');
        await replied('unreached');
        const reply = page.locator('article.assistant').last();
        await reply.getByText(/^Refused with (rate_limited|turn_running)\.$/).waitFor();
        expect(await reply.getByText(unreached).count()).toBe(0);
        await page.getByRole('button', { name: 'Try again' }).click();
        expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
        const own = keys().slice(before);
        expect([own.length, new Set(own).size]).toEqual([2, 1]);
        expect(await reply.getByText('Refused').count()).toBe(0);
      }
    });

    it('gives a message back that was refused while calls wait, and keeps what waits', async () => {
      const data = {
        approvalId: 'apr_1',
        toolCallId: 'call_1',
        status: 'pending',
        tool: { server: 'bank', name: 'pay' },
        arguments: {},
        createdAt: new Date().toISOString(),
        expiresAt: new Date(Date.now() + 600_000).toISOString(),
      };
      const asks = turnOf('one', [{ type: 'data-approval-request', id: 'apr_1', data }], 'tool-calls');
      const asking = stream(textOfLines(asks));
      pages.resumes(asking);
      pages.will(asking, refuse(409, 'turn_running'), completeTurn('two', 'Not paid.'));
      await say(page, 'pay');
      await replied('waiting');
      await say(page, 'No, Tuesday.');
      await page.getByRole('alert').getByText('Refused with turn_running.').waitFor();
      expect(await page.inputValue('#words')).toBe('No, Tuesday.');
      expect(await page.locator('article').count()).toBe(2);
      await replied('waiting');
      await page.press('#words', 'Enter');
      expect(await replied('finished')).toEqual({ state: 'finished', texts: ['Not paid.'] });
      expect(await page.getByText('Refused').isVisible()).toBe(false);
      expect([keys().length, new Set(keys()).size]).toEqual([3, 3]);
    });

    it('shows why a turn has ended', async () => {
      for (const [finish, state, words] of [
        ['other', 'stopped', 'Stopped.'],
        [
          'tool-calls',
          'out-of-steps',
          'The agent took as many steps as it may, and ended before it was done.',
        ],
        ['length', 'too-long', 'This answer became too long, and was cut off.'],
        ['content-filter', 'withheld', 'The rest of this answer was withheld.'],
      ] as const) {
        pages.will(completeTurn(finish, 'I began', finish));
        await say(page, 'hello');
        expect(await replied(state)).toEqual({ state, texts: ['I began'] });
        await page.locator('article.assistant').getByText(words).waitFor();
        expect(await page.locator('#status').textContent()).toBe(`The agent says: I began ${words}`);
      }
    });
  });

  describe('that last', () => {
    forEachTest(give, { holdsTime: true });

    it('retries for a minute with back-off, then reports the failure and retries on request', async () => {
      pages.always(loseReply);
      await say(page, 'hello');
      const again = page.getByRole('button', { name: 'Try again' });
      await passTime(page, 'the page to give up', () => again.isVisible());
      const all = await gapsOf(page);
      const planned = [250, 500, 1_000, 2_000];
      expect(all.length).toBeGreaterThan(planned.length);
      for (const [at, gap] of all.entries())
        expect(gap, `pause ${at}`).toBeGreaterThanOrEqual(planned[at] ?? 4_000);
      const whole = all.reduce((sum, gap) => sum + gap, 0);
      expect(whole).toBeGreaterThan(30_000);
      expect(whole).toBeLessThan(120_000);
      expect(await page.locator('article').getByText(unreached).count()).toBe(1);
      pages.always(completeTurn('one', 'Here.'));
      await again.click();
      expect(await replied('finished')).toMatchObject({ texts: ['Here.'] });
      expect(new Set(keys()).size).toBe(1);
      expect(await again.isVisible()).toBe(false);
    });

    it('gives up on a stream that is always cut after the same event', async () => {
      pages.always(stream(textOfLines(turnOf('one', textIn('Let me')).slice(0, 3)), 'cut'));
      await say(page, 'hello');
      const again = page.getByRole('button', { name: 'Try again' });
      await passTime(page, 'the page to give up', () => again.isVisible());
      expect(Math.max(...(await gapsOf(page)))).toBeGreaterThanOrEqual(4_000);
    });

    it('waits for the time of Retry-After', async () => {
      pages.will(refuse(503, 'unavailable', '20'), completeTurn('one', 'Here.'));
      await say(page, 'hello');
      await passTime(page, 'the second try', () => sent().length === 2);
      const [gap] = await gapsOf(page);
      expect(gap).toBeGreaterThanOrEqual(20_000);
    });

    it('abandons a connection that becomes idle before its first byte or in the middle', async () => {
      const half = stream(textOfLines(turnOf('one', textIn('Let me')).slice(0, 3)), 'open');
      for (const [at, silent] of [() => undefined, half].entries()) {
        pages.will(silent, completeTurn('one', 'Let me see.'));
        await say(page, 'hello');
        await passTime(page, 'the second try', () => sent().length === 2 * at + 2, { whileAsking: true });
        expect((await gapsOf(page)).at(-1)).toBeGreaterThanOrEqual(45_000);
        expect(await replied('finished')).toMatchObject({ texts: ['Let me see.'] });
        expect(new Set(keys().slice(-2)).size).toBe(1);
      }
    });
  });
}
