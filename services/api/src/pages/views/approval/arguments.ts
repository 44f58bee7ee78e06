import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { MASK } from '@parley/shared/domain/approvals/mask';
import { type Html, html } from '../../kit/html.ts';
import { paragraph } from '../parts.ts';
import type { PageView } from '../view.ts';
import type { ApprovalPageStrings } from './strings-en.ts';

type ShownArguments = Pick<Extract<PageView, { page: 'approval' }>, 'arguments' | 'masked'>;
type ArgumentWords = Pick<ApprovalPageStrings, 'arguments' | 'noArguments' | 'secret' | 'empty'>;

// Longer texts scroll, so that the buttons below stay within reach.
const SHORT = 400;
const SHORT_LINES = 8;

/** All arguments of a call as they will be sent. Nested values are shown as JSON. */
export function argumentList(shown: ShownArguments, words: ArgumentWords): Html {
  const entries = Object.entries(shown.arguments);
  if (entries.length === 0) return paragraph(words.noArguments, 'quiet');
  const masked = new Set(shown.masked);
  const rows = entries.map(([name, value]) => {
    const isMasked = masked.has(pointerOf([name]));
    const content = isMasked
      ? html`<span class="quiet">${MASK} (${words.secret})</span>`
      : shownValue(value, words);
    return html`<div><dt><code>${name}</code></dt><dd>${content}</dd></div>`;
  });
  return html`<dl class="facts">${rows}</dl>`;
}

function shownValue(value: unknown, words: ArgumentWords): Html {
  if (value === '') return html`<span class="quiet">${words.empty}</span>`;
  if (typeof value === 'string') return textOf(value, words);
  if (value !== null && typeof value === 'object')
    return html`<code>${boxOf(JSON.stringify(value, null, 2), words)}</code>`;
  return html`<code>${String(value)}</code>`;
}

function textOf(text: string, words: ArgumentWords): Html {
  if (text.length > SHORT || text.split('\n', SHORT_LINES + 1).length > SHORT_LINES)
    return boxOf(text, words);
  return html`<span class="sent" dir="auto">${text}</span>`;
}

/** A box that also scrolls by keyboard. */
function boxOf(text: string, words: ArgumentWords): Html {
  return html`<span class="sent long" dir="auto" tabindex="0" role="group" aria-label="${words.arguments}">${text}</span>`;
}
