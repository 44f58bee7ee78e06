import { expect, it } from 'vitest';
import {
  type Move,
  nothingRuns,
  refuse,
  reply,
  stream,
  textOfLines,
} from '../../harness/chat/chat-server.ts';
import { keptIn, say, textsOf } from '../../harness/chat/page.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import {
  completeTurn,
  type ForEachTest,
  repliedIn,
  type ScriptedPage,
  setTime,
  textIn,
  turnOf,
  waits,
} from './site.ts';

const WEEKEND_MS = 60 * 3_600_000;
const lost = 'The result of this message is no longer available.';
const begun = stream(textOfLines(turnOf('one', textIn('I begin.')).slice(0, 3)), 'open');

/** What a person finds who comes back. */
export function afterAbsence(forEachTest: ForEachTest): void {
  let pages: ScriptedPage['pages'];
  let page: ScriptedPage['page'];
  let sent: ScriptedPage['sent'];
  forEachTest((opened) => {
    ({ pages, page, sent } = opened);
  });

  async function sleepOverTheWeekend(weeks = 1): Promise<void> {
    await setTime(page, Date.now() + weeks * WEEKEND_MS);
    await page.reload();
  }

  it('for days does not ask again what was sent, running, unreached or waiting', async () => {
    const moves: readonly Move[] = [() => undefined, begun, refuse(429, 'rate_limited', '300'), waits('one')];
    for (const [at, move] of moves.entries()) {
      pages.will(move, completeTurn('two', 'Deleted once more.'));
      await say(page, 'delete all');
      await waitUntil(() => sent().length === at + 1, { what: 'the message' });
      if (move === begun) await page.getByText('I begin.').waitFor();
      await sleepOverTheWeekend(at + 1);
      expect(await repliedIn(page, 'lost', 'finished')).toMatchObject({ state: 'lost' });
      await page.locator('article.assistant').last().getByText(lost).waitFor();
      expect(sent().length).toBe(at + 1);
    }
  });

  it('shows that the model thinks, also after a reload, until it speaks', async () => {
    const thinks = { type: 'reasoning-start', id: 'r' } as const;
    const spoken = [thinks, { type: 'reasoning-end', id: 'r' } as const, ...textIn('Done.')];
    const thinking = stream(textOfLines(turnOf('one', [thinks]).slice(0, 2)), 'open');
    pages.will(thinking, thinking, stream(textOfLines(turnOf('one', spoken))));
    await say(page, 'one');
    for (let load = 0; load < 2; load += 1) {
      await page.getByText('Thinking', { exact: true }).waitFor();
      await looksSound(page);
      await page.reload();
    }
    expect(await repliedIn(page, 'finished')).toMatchObject({ texts: ['Done.'] });
    expect(await page.getByText('Thinking').count()).toBe(0);
  });

  it('shows a turn that is still running after days', async () => {
    pages.will(begun);
    await say(page, 'delete all');
    await page.getByText('I begin.').waitFor();
    pages.resumes(completeTurn('one', 'I begin. And end.'));
    await sleepOverTheWeekend();
    expect(await repliedIn(page, 'lost', 'finished')).toMatchObject({ texts: ['I begin. And end.'] });
    expect(sent().length).toBe(1);
  });

  it('shows in another browser what was said before, and finds it in the list of chats', async () => {
    const conversationId = 'chat-of-yesterday';
    const text = (words: string) => [{ type: 'text', text: words }];
    const call = { type: 'dynamic-tool', toolCallId: 'c1', toolName: 'find', state: 'output-available' };
    const messages = [
      { id: 'msg_0', role: 'user', parts: text('Find it.') },
      { id: 'msg_1', role: 'assistant', parts: [{ ...call, input: {}, output: 'here' }, ...text('Found.')] },
      { id: 'msg_2', role: 'user', parts: text('And now?') },
    ];
    const latestTurnAt = new Date().toISOString();
    pages.remembers(
      reply({ conversationId, messages, isRunning: true }),
      reply({
        conversations: [
          { conversationId, title: 'Find it.', agent: 'helper', latestTurnAt, isRunning: true },
        ],
      }),
    );
    pages.resumes(completeTurn('three', 'Now it runs.'));
    await page.getByText('Chats', { exact: true }).click();
    await page.getByRole('link', { name: 'Find it.' }).click();
    await page.locator('article.assistant').getByText('Now it runs.').waitFor();
    const shown = await page.locator('article').evaluateAll((all) => all.map(({ className }) => className));
    expect(shown).toEqual(['user', 'assistant', 'user', 'assistant']);
    await page.locator('article.user').getByText('And now?').waitFor();
    expect(await page.locator('.tool code').innerText()).toBe('find');
    expect(sent().length).toBe(0);
  });

  it('says that it knows nobody of a name, and who there is', async () => {
    await page.goto(new URL('/?person=mallory', page.url()).href);
    await page.getByText('There is no user named mallory').waitFor();
    await page.getByRole('link', { name: 'Continue as ada' }).waitFor();
    expect(await page.locator('#words').isDisabled()).toBe(true);
  });

  it('shows all of its header, and of what opens from it, in a narrow and in a wide window', async () => {
    pages.remembers(reply({ messages: [] }), reply({ conversations: [] }));
    await looksSound(page);
    await page.locator('#chats summary').click();
    await page.getByText('No chats yet.').waitFor();
    await looksSound(page);
    await page.keyboard.press('Escape');
    await page.locator('#inbox button').click();
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await looksSound(page);
  });

  it('resumes a waiting turn without sending its message', async () => {
    pages.always(waits('one'));
    await say(page, 'a seat');
    await repliedIn(page, 'waiting');
    pages.always(completeTurn('two', 'Another turn.'));
    const before = sent().length;
    pages.resumes(waits('one'));
    const resumed = pages.resumed();
    await page.reload();
    await waitUntil(() => pages.resumed() > resumed, { what: 'the page to come back' });
    expect(await repliedIn(page, 'waiting', 'finished')).toMatchObject({ state: 'waiting' });
    pages.resumes(nothingRuns);
    await page.reload();
    expect(await repliedIn(page, 'lost', 'finished')).toMatchObject({ state: 'lost' });
    expect(sent().length).toBe(before);
  });

  it('does not mistake another turn for the one that waited', async () => {
    pages.will(waits('one'));
    await say(page, 'a seat');
    await repliedIn(page, 'waiting');
    pages.resumes(completeTurn('two', 'Another turn.'));
    await page.reload();
    expect(await repliedIn(page, 'lost', 'finished')).toEqual({ state: 'lost', texts: ['Which seat?'] });
  });

  it("keeps its last message when another tab's turn is cut before its first event", async () => {
    pages.will(completeTurn('one', 'Here.'));
    await say(page, 'hello');
    await repliedIn(page, 'finished');
    let isCut = false;
    pages.resumes((res, call) => {
      (isCut ? nothingRuns : stream('', 'cut'))(res, call);
      isCut = true;
    });
    await page.reload();
    const kept = await keptIn(page, ['lost']);
    expect(kept.map(textsOf)).toEqual([['hello'], ['Here.'], []]);
    await page.locator('article.assistant').getByText(lost).waitFor();
  });
}
