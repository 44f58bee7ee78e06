import { faultOfMessage, faultOfView } from '../blocks.ts';
import type { Json } from '../state.ts';
import { inputHtml } from './inputs.ts';
import { htmlOf, mrkdwnHtml } from './mrkdwn.ts';
import { richTextHtml } from './rich-text.ts';

/*
 * A renderer of Block Kit for pictures and for people who look at them. It is not Slack: it draws the blocks, elements and
 * formatting that Parley uses, in a similar arrangement, and refuses everything else, and what the stand-in refuses.
 */

/** A message as HTML. Throws where Slack would refuse it. `isEphemeral`: only one person sees it. */
export function messageHtml(message: Json, { isEphemeral = false } = {}): string {
  refuse(faultOfMessage(message));
  const blocks = listOf(message.blocks);
  const note = isEphemeral ? '<div class="only">Only visible to you</div>' : '';
  const body = blocks.length === 0 ? textHtml(message.text, 'mrkdwn') : blocks.map(blockHtml).join('');
  return `<div class="message">${note}<div class="avatar">P</div><div class="body">
    <div class="name">parley <span class="app">APP</span></div>${body}</div></div>`;
}

/** A modal as HTML, with the faults that were sent for its inputs. Throws where Slack would refuse it. */
export function viewHtml(view: Json, errors: Readonly<Record<string, string>> = {}): string {
  refuse(faultOfView(view));
  const blocks = listOf(view.blocks);
  const unknown = Object.keys(errors).filter(
    (id) => !blocks.some((block) => block.type === 'input' && block.block_id === id),
  );
  refuse(unknown.length === 0 ? undefined : `errors for ${unknown.join(', ')}, which are no inputs`);
  const body = blocks
    .map((block) => {
      const error = errors[String(block.block_id)];
      return blockHtml(block) + (error === undefined ? '' : `<div class="error">${htmlOf(error)}</div>`);
    })
    .join('');
  const submit =
    view.submit === undefined ? '' : `<span class="button primary">${plainHtml(view.submit)}</span>`;
  return `<div class="modal"><div class="title">${plainHtml(view.title)}<span>✕</span></div>
    <div class="body">${body}</div>
    <div class="footer"><span class="button">${plainHtml(view.close)}</span>${submit}</div></div>`;
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new Error(`Slack refuses this: ${fault}`);
}

/** One block as HTML. */
export function blockHtml(block: Json): string {
  switch (block.type) {
    case 'header':
      return `<h3>${plainHtml(block.text)}</h3>`;
    case 'section':
      return `<div class="section">${objectHtml(block.text)}</div>`;
    case 'context':
      return `<div class="context">${listOf(block.elements).map(objectHtml).join(' ')}</div>`;
    case 'actions':
      return `<div class="actions">${listOf(block.elements).map(buttonHtml).join('')}</div>`;
    case 'rich_text':
      return `<div class="rich">${listOf(block.elements).map(richTextHtml).join('')}</div>`;
    case 'divider':
      return '<hr>';
    case 'input':
      return labelledHtml(block);
    default:
      throw new Error(`This renderer does not know the block ${String(block.type)}.`);
  }
}

function labelledHtml({ label, optional, hint, element }: Json): string {
  const note = optional === true ? ' <span class="optional">(optional)</span>' : '';
  const below = hint === undefined ? '' : `<div class="context">${plainHtml(hint)}</div>`;
  return `<div class="input"><b>${plainHtml(label)}</b>${note}${inputHtml(element as Json)}${below}</div>`;
}

function buttonHtml({ type, text, style, url }: Json): string {
  if (type !== 'button') throw new Error(`This renderer does not know the element ${String(type)}.`);
  const mark = url === undefined ? '' : ' <span class="mark">↗</span>';
  return `<span class="button ${String(style ?? '')}">${plainHtml(text)}${mark}</span>`;
}

function objectHtml(object: unknown): string {
  const { type, text } = object as Json;
  return textHtml(text, String(type));
}

function textHtml(text: unknown, type: string): string {
  return type === 'mrkdwn' ? mrkdwnHtml(String(text ?? '')) : htmlOf(String(text ?? ''));
}

function plainHtml(object: unknown): string {
  return htmlOf(String((object as Json | undefined)?.text ?? ''));
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}
