import type { Button, HeaderBlock, KnownBlock, SectionBlock } from '@slack/types';
import { plain } from './fields.ts';
import { escaped, lineText } from './text.ts';

const HEADER_MAX = 150;
/** The longest text of a button. */
export const BUTTON_MAX = 75;

export function header(text: string): HeaderBlock {
  return { type: 'header', text: plain(lineText(text, HEADER_MAX)) };
}

/** A button. Without a value, it belongs to no question. */
export function button(action: string, text: string, value?: string, style?: 'primary' | 'danger'): Button {
  return {
    type: 'button',
    action_id: action,
    text: plain(text),
    ...(value !== undefined && { value }),
    ...(style && { style }),
  };
}

/** A section with text from others, which Slack shows without formatting, mentions or links. */
export function section(text: string): SectionBlock {
  return mrkdwn(escaped(text));
}

export function mrkdwn(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text: text === '' ? ' ' : text, verbatim: true } };
}

/** A message with a section for each of these mrkdwn texts. */
export function textMessage(...texts: readonly string[]): { text: string; blocks: KnownBlock[] } {
  return { text: texts.join('\n'), blocks: texts.map(mrkdwn) };
}

export function context(text: string): KnownBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] };
}
