import { readableLine } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';

/** A text that people, models or servers wrote, on one line. `<bdi>` keeps its direction from affecting the text around it. */
export function outside(text: string): TemplateResult {
  return html`<bdi>${readableLine(text)}</bdi>`;
}

/** A text from outside, or a dash where it is absent. */
export function outsideOr(text: string | undefined): TemplateResult {
  return text === undefined ? html`<span class="quiet">–</span>` : outside(text);
}

/** An id, in a font in which similar characters can be told apart. */
export function idText(id: string): TemplateResult {
  return html`<code><bdi>${readableLine(id)}</bdi></code>`;
}

/** The word for a state, or the state's own name if this page does not know it because the server is newer. */
export function wordOf(words: Readonly<Record<string, string>>, state: string): string {
  return (Object.hasOwn(words, state) ? words[state] : undefined) ?? readableLine(state);
}

const TONES: Readonly<Record<string, string>> = {
  pending: 'wait',
  opened: 'wait',
  waiting: 'wait',
  queued: 'wait',
  detached: 'wait',
  running: 'busy',
  under_way: 'busy',
  accepted: 'good',
  approved: 'good',
  edited: 'good',
  finished: 'good',
  returned: 'good',
  expired: 'warn',
  retrying: 'warn',
  orphaned: 'bad',
  failed: 'bad',
  dead: 'bad',
};

/** A state as a word with a mark. */
export function badge(state: string, words: Readonly<Record<string, string>>): TemplateResult {
  const tone = Object.hasOwn(TONES, state) ? TONES[state] : 'idle';
  return html`<span class="badge ${tone}">${wordOf(words, state)}</span>`;
}

/** A list of terms and values. Terms without a value are omitted. */
export function factList(facts: readonly (readonly [string, unknown])[]): TemplateResult {
  return html`<dl class="facts">${facts.map(([term, value]) =>
    value === undefined || value === nothing ? nothing : html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}
