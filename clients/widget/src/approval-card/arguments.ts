import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { isRecord } from '@parley/core/domain/plain-record';
import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import type { ApprovalStrings } from '../strings/approval.ts';

type ArgumentWords = Pick<
  ApprovalStrings,
  'argumentsTitle' | 'noArguments' | 'secretValue' | 'emptyText' | 'entries' | 'moreEntries'
>;

/** A text with more characters or lines, and the JSON of a deep value, gets a scrolling box. */
const TEXT_MAX = 400;
const LINES_MAX = 8;
/** A nested value with JSON of at most this length is shown as JSON on its line. */
const INLINE_MAX = 80;
/** A value with more entries is shown as JSON behind a switch. */
const ENTRIES_MAX = 30;
/** A list with at most this many entries is shown expanded. */
const OPEN_MAX = 8;
const DEPTH_MAX = 4;

/** All arguments of a call: long ones scroll, and nested ones can be collapsed. */
export function argumentsView(
  given: Readonly<Record<string, unknown>>,
  masked: readonly string[],
  words: ArgumentWords,
): TemplateResult {
  const entries = Object.entries(given);
  if (entries.length === 0) return html`<p class="quiet" part="arguments">${words.noArguments}</p>`;
  return html`<div part="arguments">${entriesView(entries, { pointer: '', depth: 0, masked: new Set(masked), words })}</div>`;
}

interface Place {
  /** The JSON pointer to the value with the entries. */
  readonly pointer: string;
  readonly depth: number;
  readonly masked: ReadonlySet<string>;
  readonly words: ArgumentWords;
}

function entriesView(entries: readonly (readonly [string, unknown])[], place: Place): TemplateResult {
  const rest = entries.slice(ENTRIES_MAX);
  return html`
    <dl class="arguments">
      ${entries.slice(0, ENTRIES_MAX).map(
        ([name, value]) => html`<div>
          <dt><code>${readable(name)}</code></dt>
          <dd>${valueView(value, { ...place, pointer: place.pointer + pointerOf([name]) })}</dd>
        </div>`,
      )}
    </dl>
    ${
      rest.length === 0
        ? nothing
        : foldView(
            place.words.moreEntries(rest.length),
            false,
            boxView(jsonOf(Object.fromEntries(rest)), place),
          )
    }
  `;
}

function valueView(value: unknown, place: Place): TemplateResult {
  const { pointer, depth, masked, words } = place;
  if (masked.has(pointer)) return html`<span class="quiet">•••••• (${words.secretValue})</span>`;
  if (typeof value === 'string') return textView(value, place);
  if (!Array.isArray(value) && !isRecord(value)) return html`<code>${String(value)}</code>`;
  const json = JSON.stringify(value);
  const entries = Object.entries(value);
  if (json.length <= INLINE_MAX) return html`<code>${readable(json)}</code>`;
  const inner =
    depth >= DEPTH_MAX ? boxView(jsonOf(value), place) : entriesView(entries, { ...place, depth: depth + 1 });
  return foldView(words.entries(entries.length), depth === 0 && entries.length <= OPEN_MAX, inner);
}

function textView(text: string, place: Place): TemplateResult {
  if (text === '') return html`<span class="quiet">${place.words.emptyText}</span>`;
  if (text.length > TEXT_MAX || text.split('\n', LINES_MAX + 1).length > LINES_MAX)
    return boxView(text, place);
  return html`<span class="words" dir="auto">${readable(text)}</span>`;
}

/** A box that also scrolls by keyboard. */
function boxView(text: string, { words }: Place): TemplateResult {
  return html`<div class="words long" dir="auto" tabindex="0" role="group" aria-label=${words.argumentsTitle}>${readable(text)}</div>`;
}

export function foldView(title: string, isOpen: boolean, content: TemplateResult): TemplateResult {
  return html`<details ?open=${isOpen}><summary>${title}</summary>${content}</details>`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
