import { expect, it } from 'vitest';
import { loseReply, type Move, refuse, reply, stream, textOfLines } from '../../harness/chat/chat-server.ts';
import { say } from '../../harness/chat/page.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  busy,
  completeTurn,
  type ForEachTest,
  repliedIn,
  type ScriptedPage,
  textIn,
  turnOf,
  waits,
} from './site.ts';

const hang: Move = () => undefined;
const begun = stream(textOfLines(turnOf('one', textIn('I begin.')).slice(0, 3)), 'open');

/** The button Stop. */
export function stopping(forEachTest: ForEachTest): void {
  let pages: ScriptedPage['pages'];
  let page: ScriptedPage['page'];
  let sent: ScriptedPage['sent'];
  let stops: ScriptedPage['stops'];
  forEachTest((opened) => {
    ({ pages, page, sent, stops } = opened);
  });

  const keys = () => sent().map(({ key }) => key);
  const sends = (times: number) => waitUntil(() => keys().length >= times, { what: `${times} messages` });
  const pressStop = () => page.getByRole('button', { name: 'Stop' }).click();
  const ended = () => repliedIn(page, 'stopped', 'finished', 'failed', 'unreached');
  const notStopped = () => page.locator('article.assistant').getByText(/^Not stopped: /);

  it('ends the retries of a refused message', async () => {
    pages.always(busy);
    await say(page, 'delete all');
    await sends(2);
    await pressStop();
    expect(await ended()).toEqual({ state: 'stopped', texts: [] });
    pages.always(completeTurn('next', 'Hello.'));
    const [key] = keys();
    const tried = keys().length;
    await say(page, 'hello');
    await repliedIn(page, 'finished');
    expect([keys().length, keys().lastIndexOf(key ?? '')]).toEqual([tried + 1, tried - 1]);
  });

  it('stops the turn of a message whose reply was lost, that a pod refused which may have begun it, or that hangs', async () => {
    for (const [at, move] of [loseReply, busy, hang].entries()) {
      pages.always(move);
      const before = keys().length;
      await say(page, 'delete all');
      await sends(before + 1);
      await pressStop();
      // Waits for less than the page's idle time-out of 45 s, so that this is not what ends the message.
      expect(await ended()).toMatchObject({ state: 'stopped' });
      expect(stops()).toBe(at + 1);
    }
  });

  it('sends no request when certainly no turn was begun', async () => {
    pages.always(refuse(429, 'rate_limited', '5'));
    const refused = page.waitForResponse((response) => response.status() === 429);
    await say(page, 'delete all');
    await (await refused).finished();
    await pressStop();
    expect(await ended()).toMatchObject({ state: 'stopped' });
    expect(stops()).toBe(0);
  });

  it('stops a turn that begins after the press', async () => {
    let runs = false;
    pages.stopsWith((res, call) => {
      reply({ stopped: runs })(res, call);
      runs = true;
    });
    await say(page, 'delete all');
    await sends(1);
    await pressStop();
    expect(await ended()).toMatchObject({ state: 'stopped' });
    expect(stops()).toBe(2);
  });

  it('survives a reload: the page then stops the turn and sends no message', async () => {
    pages.stopsWith(hang);
    await say(page, 'delete all');
    await sends(1);
    await pressStop();
    await waitUntil(() => stops() === 1, { what: 'the turn to be stopped' });
    pages.stopsWith(reply({ stopped: true }));
    await page.reload();
    await repliedIn(page, 'stopped');
    expect(keys().length).toBe(1);
    expect(stops()).toBeGreaterThan(1);
  });

  it('can be retried when it fails, and the message is not sent', async () => {
    pages.stopsWith(loseReply);
    await say(page, 'delete all');
    await sends(1);
    await pressStop();
    expect(await ended()).toMatchObject({ state: 'unreached' });
    await notStopped().waitFor();
    await page.reload();
    await notStopped().waitFor();
    pages.stopsWith(reply({ stopped: true }));
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await repliedIn(page, 'stopped')).toMatchObject({ state: 'stopped' });
    expect(keys().length).toBe(1);
    expect(await notStopped().count()).toBe(0);
  });

  it('shows its failure while the turn continues, also after a replay', async () => {
    let cut = () => {};
    pages.will(
      (res, call) => {
        cut = () => res.destroy();
        begun(res, call);
      },
      completeTurn('one', 'I begin. And end.'),
    );
    pages.stopsWith(loseReply);
    await say(page, 'delete all');
    await page.getByText('I begin.').waitFor();
    await pressStop();
    await notStopped().waitFor();
    cut();
    expect(await ended()).toMatchObject({ state: 'finished', texts: ['I begin. And end.'] });
    expect(await notStopped().count()).toBe(1);
  });

  it('shows its failure in a waiting turn', async () => {
    pages.will(waits('one'));
    pages.stopsWith(refuse(503, 'unavailable'));
    await say(page, 'a seat');
    await repliedIn(page, 'waiting');
    pages.resumes(waits('one'));
    await pressStop();
    await notStopped().waitFor();
    pages.stopsWith(reply({ stopped: true }));
    pages.resumes(completeTurn('one', 'Which seat?', 'other'));
    await pressStop();
    expect(await ended()).toMatchObject({ state: 'stopped' });
    expect(await notStopped().count()).toBe(0);
  });
}
