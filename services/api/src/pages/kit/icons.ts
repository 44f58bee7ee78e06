import { type Html, html } from './html.ts';

/** The small picture at the top of a page. It repeats the heading, so assistive technology skips it. */
export type Icon =
  | 'person'
  | 'link'
  | 'key'
  | 'onward'
  | 'turning'
  | 'good'
  | 'ended'
  | 'time'
  | 'stop'
  | 'fault'
  | 'question'
  | 'inbox';

// The shapes, drawn with strokes on a grid of 24 units.
const SHAPES: Readonly<Record<Icon, Html>> = {
  person: html`<circle cx="12" cy="8" r="4"/><path d="M4 21a8 8 0 0 1 16 0"/>`,
  link: html`<path d="M10 14a5 5 0 0 0 7 0l3-3a5 5 0 0 0-7-7l-1 1M14 10a5 5 0 0 0-7 0l-3 3a5 5 0 0 0 7 7l1-1"/>`,
  key: html`<circle cx="8" cy="15" r="4"/><path d="M11 12l9-9M16 7l3 3"/>`,
  onward: html`<path d="M4 12h16M14 6l6 6-6 6"/>`,
  turning: html`<path d="M20 12a8 8 0 1 1-3-6.2M20 3v5h-5"/>`,
  good: html`<path d="M5 12.5l5 5L19.5 7"/>`,
  ended: html`<path d="M6 12h12"/>`,
  time: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>`,
  stop: html`<circle cx="12" cy="12" r="9"/><path d="M6 6l12 12"/>`,
  question: html`<path d="M9 9a3 3 0 1 1 4.5 2.6c-.9.6-1.5 1.2-1.5 2.4M12 17.5v.5"/>`,
  inbox: html`<path d="M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5"/>`,
  fault: html`<path d="M12 6v7M12 17.5v.5"/>`,
};

const TONES: Partial<Record<Icon, string>> = {
  good: 'good',
  time: 'warn',
  stop: 'warn',
  fault: 'bad',
  turning: 'turning',
};

/** The picture as markup. */
export function iconOf(icon: Icon): Html {
  return html`<div class="icon ${TONES[icon] ?? ''}" aria-hidden="true"><svg viewBox="0 0 24 24">${SHAPES[icon]}</svg></div>`;
}
