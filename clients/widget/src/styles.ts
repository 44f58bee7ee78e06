import { css } from 'lit';
import { partStyles } from './card-styles.ts';

/** Colours, measures and the card's own box. Pages set the `--parley-*` properties; what they leave out stands here. */
const tokens = css`
  :host {
    --text: var(--parley-text, light-dark(#1a1f26, #e7eaee));
    --quiet: var(--parley-muted, light-dark(#545d69, #a7b0bc));
    --surface: var(--parley-surface, light-dark(#fff, #191e25));
    --line: var(--parley-border, light-dark(#dde2e8, #333b46));
    --edge: var(--parley-border, light-dark(#757e8a, #7f8a97));
    --accent: var(--parley-accent, light-dark(#2a4fb8, #9db8ff));
    --on-accent: var(--parley-on-accent, light-dark(#fff, #10151c));
    --danger: var(--parley-danger, light-dark(#a8251c, #ff9f95));
    --good: light-dark(#176b43, #7fd6a6);
    --warn: light-dark(#7a4a00, #f2cd8a);
    --tone: var(--accent);
    --radius: var(--parley-radius, 14px);
    --space: var(--parley-space, 1rem);
    display: block;
    max-inline-size: 42rem;
    font-family: var(--parley-font, inherit);
    line-height: 1.5;
    color: var(--text);
    text-align: start;
  }
  :host([hidden]) {
    display: none;
  }
  :host([theme='light']) {
    color-scheme: light;
  }
  :host([theme='dark']) {
    color-scheme: dark;
  }
  :host([data-over]) {
    --tone: var(--quiet);
  }
  :host([data-state='accepted']) {
    --tone: var(--good);
  }
  :host(:is([data-state='expired'], [data-state='offline'])) {
    --tone: var(--warn);
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
`;

const box = css`
  .card {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: var(--space);
    padding: calc(var(--space) * 1.25);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
    box-shadow:
      0 1px 2px rgb(16 24 40 / 5%),
      0 4px 16px -6px rgb(16 24 40 / 10%);
    overflow-wrap: anywhere;
  }
  :host([data-over]) .card {
    gap: 0.25rem;
    padding-block: var(--space);
    background: color-mix(in srgb, var(--surface), var(--quiet) 4%);
    box-shadow: none;
  }
  p {
    margin: 0;
  }
  .head {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0 0.75rem;
    align-items: start;
  }
  .badge {
    display: grid;
    place-items: center;
    inline-size: 2.25rem;
    block-size: 2.25rem;
    border-radius: calc(var(--radius) * 0.7);
    background: color-mix(in srgb, var(--tone) 12%, transparent);
    color: var(--tone);
  }
  svg {
    display: block;
    inline-size: 1.25em;
    block-size: 1.25em;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.75;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .by {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.75rem;
    justify-content: space-between;
    color: var(--quiet);
    font-size: 0.875em;
  }
  .by b {
    color: var(--text);
    font-weight: 600;
  }
  .why {
    color: var(--quiet);
    font-size: 0.875em;
  }
  .countdown {
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
  .countdown.soon {
    color: var(--danger);
    font-weight: 600;
  }
  .title {
    font-size: 1.0625em;
    font-weight: 650;
    line-height: 1.35;
  }
  .title:focus {
    outline: none;
  }
  .title:focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 3px;
    border-radius: 2px;
  }
  .words {
    white-space: pre-wrap;
    unicode-bidi: isolate;
  }
  .words.long {
    max-block-size: 18rem;
    padding: 0.625rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) * 0.66);
    overflow-y: auto;
  }
  .quiet,
  :host([data-over]) .words {
    color: var(--quiet);
    font-size: 0.9375em;
  }
  .note {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0.625rem;
    padding: 0.625rem 0.75rem;
    border-radius: calc(var(--radius) * 0.66);
    background: color-mix(in srgb, var(--tone) 9%, transparent);
    font-size: 0.9375em;
  }
  .note svg {
    margin-block-start: 0.125em;
    color: var(--tone);
  }
  .note.warning {
    --tone: var(--warn);
  }
  .note.refusal {
    --tone: var(--danger);
  }
  .end {
    color: var(--tone);
    font-size: 0.9375em;
    font-weight: 600;
  }
  /* What was said stands under the title: the badge's column stays free. */
  :host([data-over]) .words {
    margin-inline-start: 3rem;
  }
  .said {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;

/** All of the card but its fields, which `form-styles.ts` draws. */
export const cardStyles = [tokens, box, ...partStyles];
