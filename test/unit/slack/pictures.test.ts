import { expect, it } from 'vitest';
import { messageHtml, viewHtml } from '../../harness/slack/draw/block-kit.ts';
import { pageOf } from '../../harness/slack/draw/page.ts';
import { SHEETS } from '../../harness/slack/draw/states.ts';

it('draws every message and modal that Parley sends, none of which Slack would refuse', () => {
  for (const [name, pictures] of Object.entries(SHEETS)) {
    const page = pageOf(pictures);
    for (const { title } of pictures) expect(page).toContain(title);
    // Mentions and dates are drawn as such, and nothing is escaped twice.
    expect(page, name).not.toMatch(/&#60;[@!]|&#38;(lt|gt|amp);|undefined/);
  }
});

it('refuses what Slack refuses, and what it cannot draw', () => {
  const plain = (text: string) => ({ type: 'plain_text', text });
  const header = (text: string) => ({ text: 'x', blocks: [{ type: 'header', text: plain(text) }] });
  expect(messageHtml(header('<b>'))).toContain('&#60;b&#62;');
  expect(() => messageHtml(header('x'.repeat(151)))).toThrow('Slack refuses this');
  expect(() => messageHtml({ text: 'x', blocks: [{ type: 'image' }] })).toThrow('Slack refuses this');
  const view = { type: 'modal', title: plain('A'), close: plain('B'), blocks: header('C').blocks };
  expect(viewHtml(view)).toContain('C');
  expect(() => viewHtml({ ...view, title: plain('x'.repeat(25)) })).toThrow('Slack refuses this');
  expect(() => viewHtml(view, { field_0: 'is required' })).toThrow('no inputs');
});
