/** The styles of the parts that both cards have, and the custom properties for pages. Fields are styled in `form/styles.ts`. */

import { css } from '../css.ts';

/**
 * The styles of the card except its fields, which `form/styles.ts` has. Pages may set the `--parley-*` properties; the defaults
 * are here.
 */
export const cardStyles = css`
  :host {
    --text: var(--parley-text, light-dark(#1a1f26, #e7eaee));
    --surface: var(--parley-surface, light-dark(#fff, #191e25));
    --quiet: var(--parley-muted, color-mix(in srgb, var(--text) 72%, var(--surface)));
    --edge: var(--parley-border, color-mix(in srgb, var(--text) 58%, var(--surface)));
    --line: var(--parley-border, color-mix(in srgb, var(--text) 15%, var(--surface)));
    --accent: var(--parley-accent, light-dark(#2a4fb8, #9db8ff));
    --danger: var(--parley-danger, light-dark(#a8251c, #ff9f95));
    --tone: var(--accent);
    --radius: var(--parley-radius, 14px);
    --space: var(--parley-space, 1rem);
    display: block;
    /* The buttons stick above the card's fields, but never above the page. */
    isolation: isolate;
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
    --tone: light-dark(#176b43, #7fd6a6);
  }
  :host([data-state='expired']),
  :host([data-state='offline']),
  .warn {
    --tone: light-dark(#7a4a00, #f2cd8a);
  }
  .danger {
    --tone: var(--danger);
  }
  * {
    box-sizing: border-box;
  }
  p {
    margin: 0;
  }
  .card {
    padding: calc(var(--space) * 1.25);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
    overflow-wrap: anywhere;
  }
  .card,
  .form,
  .choices {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: var(--space);
  }
  :host([data-over]) .card {
    gap: 0.25rem;
  }
  .head,
  .note,
  .choice {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0 0.75rem;
    align-items: start;
  }
  .badge {
    padding: 0.5rem;
  }
  .badge,
  .note {
    border-radius: calc(var(--radius) * 0.66);
    background: color-mix(in srgb, var(--tone) 10%, transparent);
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
  .title {
    font-size: 1.0625em;
  }
  .by {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.75rem;
    align-items: center;
    justify-content: space-between;
  }
  .quiet,
  .help,
  .hint,
  .room,
  code,
  :host([data-over]) .words {
    color: var(--quiet);
    font-size: 0.9375em;
    font-weight: 400;
  }
  .soon,
  .error {
    color: var(--danger);
  }
  .words,
  .form bdi {
    white-space: pre-wrap;
  }
  .long {
    max-block-size: 20rem;
    overflow-y: auto;
  }
  .long,
  .box {
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) * 0.66);
  }
  .long,
  .box,
  .note {
    padding: 0.5rem 0.75rem;
  }
  .badge,
  .note svg,
  .end {
    color: var(--tone);
  }
  /* In a settled card, the message stands under the title, and the badge's column stays empty. */
  :host([data-over]) .words {
    margin-inline-start: 3rem;
  }
  code {
    font-family: ui-monospace, monospace;
    word-break: break-all;
  }
  code b {
    color: var(--text);
  }
  .turn {
    animation: turn 1.4s linear infinite;
  }
  @keyframes turn {
    to {
      rotate: 1turn;
    }
  }
  .said {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    padding: 0;
    border: 0;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }

  /* The buttons and the link. */
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    padding-block: 0.25rem;
    background: var(--surface);
  }
  @media (min-width: 40rem) and (min-height: 32rem) {
    /* In a card that is taller than the window, the buttons stay visible. The shadow fades out what scrolls below them.
       A phone has no room for both a field and the buttons. */
    .near {
      position: sticky;
      z-index: 1;
      inset-block-end: 0;
      box-shadow: 0 -0.5rem 0.5rem var(--surface);
    }
    .form :is(.entry, input) {
      scroll-margin-block-end: 6rem;
    }
  }
  .button {
    display: inline-flex;
    gap: 0.5rem;
    align-items: center;
    padding: 0.25rem 1rem;
    background: transparent;
    text-decoration: none;
    cursor: pointer;
  }
  .button,
  .entry {
    min-block-size: 2.75rem;
    border: 1px solid var(--edge);
    border-radius: calc(var(--radius) * 0.66);
    color: inherit;
    font: inherit;
  }
  .title,
  .name,
  .end,
  .soon,
  .error,
  .button {
    font-weight: 600;
  }
  .button:hover {
    background: color-mix(in srgb, var(--text) 6%, transparent);
  }
  .primary.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--parley-on-accent, var(--surface));
  }
  .cancel,
  .small {
    padding-inline: 0.5rem;
    border-color: transparent;
    color: var(--quiet);
  }
  .small {
    margin-block: -0.5rem;
    padding: 0;
    color: var(--accent);
  }
  .button[aria-disabled='true']:not(.cancel) {
    border-color: var(--line);
    background: transparent;
    color: var(--quiet);
    cursor: default;
  }
  :focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: 2px;
  }
  @media (prefers-reduced-motion: reduce) {
    .turn {
      animation: none;
    }
  }
  @media (forced-colors: active) {
    .note,
    .primary {
      border: 2px solid;
    }
    .button[aria-disabled='true'] {
      border-color: GrayText;
      color: GrayText;
    }
  }
`;
