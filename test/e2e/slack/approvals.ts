import { describe, expect, it } from 'vitest';
import { readable } from '../../harness/slack/person.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { SlackDeployment } from './deployment.ts';

/** Approvals in Slack, over three pods. */
export function approvals(the: () => SlackDeployment): void {
  describe('approvals', () => {
    it('has a call approved by the person asked alone, as it is or edited in a modal with errors at its inputs', async () => {
      const { linked } = the();
      const { person } = await linked('U11');
      const { person: other } = await linked('U12');
      const { thread, channel } = await person.say('echo Hello', { channel: 'C2' });
      const inChannel = await person.sees(thread, 'parley_call');
      expect(readable(inChannel)).not.toContain('Hello');
      expect(await other.pressAndRead(inChannel, 'parley_call')).toContain('Only the person who was asked');
      const shown = await person.press(inChannel, 'parley_call');
      const card = await waitUntil(() => shown.told(), { what: 'the call' });
      expect(JSON.stringify(card)).toContain('Hello');
      const own = { blocks: card.blocks as never, channel, isEphemeral: true };
      const late = await person.press(own, 'parley_edit', 5_000);
      const offer = await waitUntil(() => late.told(), { what: 'another offer' });
      await person.press({ blocks: offer.blocks as never, channel }, 'parley_edit');
      const view = await waitUntil(() => person.view(), { what: 'the arguments' });
      expect(JSON.stringify(view.view)).toContain('Hello');
      expect((await person.submit(view, [{ value: '' }])).body).toMatchObject({
        response_action: 'errors',
        errors: { field_0: expect.any(String) },
      });
      expect((await other.submit(view, [{ value: 'Stolen' }])).body).toMatchObject({
        response_action: 'update',
      });
      expect(await person.submit(view, [{ value: 'Goodbye' }])).toMatchObject({
        status: 200,
        body: undefined,
      });
      await person.sees(thread, 'Approved with other arguments by <@U11> in Slack');
      const reply = readable(await person.sees(thread, /word-39/));
      expect(reply).toContain('Goodbye');
      expect(reply).not.toContain('Hello');
      expect(await person.pressAndRead(own, 'parley_approve')).toContain('This approval is over.');
    });

    it('shows a denial with its reason, a decision that was made elsewhere, a stop, and asks no more once it is remembered', async () => {
      const { slack, linked } = the();
      const { person, web } = await linked('U13');
      const asked = async (text: string, thread?: string) => {
        const said = await person.say(text, thread === undefined ? {} : { thread });
        const find = () =>
          slack.messages.findLast(
            (one) => one.thread_ts === said.thread && /parley_approve/.test(readable(one)),
          );
        return { ...said, card: await waitUntil(find, { what: 'the approval' }) };
      };
      const denied = await asked('echo One');
      await person.press(denied.card, 'parley_deny');
      const view = await waitUntil(() => person.view(), { what: 'the reason' });
      expect((await person.submit(view, [{ value: 'Not today' }])).status).toBe(200);
      expect(readable(await person.sees(denied.thread, 'Denied by <@U13> in Slack'))).toContain('Not today');
      await person.sees(denied.thread, 'Their reason: Not today');
      const elsewhere = await asked('echo Two');
      const id = /"value":"(ap_[^"]+)"/.exec(readable(elsewhere.card))?.[1] ?? '';
      expect((await web.post(`/v1/approvals/${id}/response`, { decision: 'approve' })).status).toBe(200);
      await person.sees(elsewhere.thread, 'Approved by <@U13> in another application');
      await person.sees(elsewhere.thread, /Two .*word-39/);
      const stopping = await asked('echo Three');
      await person.press(await person.sees(stopping.thread, 'parley_stop'), 'parley_stop');
      expect(readable(await person.sees(stopping.thread, '*Stopped*'))).not.toContain('"button"');
      const remembered = await asked('echo Four');
      expect((await person.press(remembered.card, 'parley_remember')).status).toBe(200);
      await person.sees(remembered.thread, 'Approved for this conversation by <@U13> in Slack');
      await person.sees(remembered.thread, /^(?!.*parley_stop).*Four .*word-39/s);
      await person.say('echo Five', { thread: remembered.thread });
      await person.sees(remembered.thread, /Five .*word-39/);
    });

    it('has all calls of a step approved or denied at once, by the person asked alone', async () => {
      const { linked, inThread } = the();
      const { person } = await linked('U18');
      const { person: other } = await linked('U19');
      const { thread } = await person.say('pair Hello');
      const together = await person.sees(thread, 'parley_approve_all');
      expect(await other.pressAndRead(together, 'parley_approve_all')).toContain(
        'Only the person who was asked',
      );
      expect((await person.press(together, 'parley_approve_all')).status).toBe(200);
      await person.sees(thread, /Hello.*Hello.*word-39/);
      await person.sees(thread, 'No call of this step is open any more.');
      await waitUntil(() => inThread(thread, /Approved by <@U18> in Slack/).length === 2, {
        what: 'the edits of both',
      });
      const inChannel = await person.say('pair Bye', { channel: 'C3' });
      const named = await person.sees(inChannel.thread, 'parley_calls');
      expect(readable(named)).not.toContain('Bye');
      const shown = await person.press(named, 'parley_calls');
      const calls = await waitUntil(() => shown.told(), { what: 'the calls' });
      for (const text of ['Bye one', 'Bye two']) expect(JSON.stringify(calls)).toContain(text);
      await person.press({ blocks: calls.blocks as never, channel: 'C3' }, 'parley_deny_all');
      const view = await waitUntil(() => person.view(), { what: 'the reason' });
      expect(await other.submit(view, [{}])).toMatchObject({ body: { response_action: 'update' } });
      expect((await person.submit(view, [{ value: 'Not today' }])).body).toBeUndefined();
      await waitUntil(() => inThread(inChannel.thread, /Denied by <@U18> in Slack/).length === 2, {
        what: 'the edits',
      });
    });

    it('brings an approval that the client of the turn cannot show, and makes the call once it is approved in Slack', async () => {
      const { slack, world, linked } = the();
      const { person, web } = await linked('U23');
      const reply = await fetch(`${world.url}/run/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: web.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'notifier',
          stream: true,
          messages: [{ role: 'user', content: 'echo Hello' }],
        }),
      });
      const shown = () =>
        slack.messages.find((one) => one.channel === person.channel && /Hello/.test(readable(one)));
      const notice = await waitUntil(shown, { what: 'the notice' });
      expect((await person.press(notice, 'parley_approve')).status).toBe(200);
      expect(await reply.text()).toMatch(/word-39/);
      await waitUntil(() => readable(shown() ?? notice).includes('Approved by <@U23> in Slack'), {
        what: 'the edit',
      });
    });
  });
}
