/** The styles of the inbox and its rows. The cards inside have their own styles, which are not repeated here. */

import { css } from '../css.ts';

/** Styles of the inbox. It uses the card's colours: the same `--parley-*` properties, light and dark. */
export const inboxStyles = css`
  :host {
    --accent: var(--parley-accent, light-dark(#2a4fb8, #9db8ff));
    --on-accent: var(--parley-on-accent, light-dark(#fff, #0e1730));
    --surface: var(--parley-surface, light-dark(#fff, #191e25));
    --text: var(--parley-text, light-dark(#1a1f26, #e7eaee));
    --muted: var(--parley-muted, light-dark(#545d69, #a7b0bc));
    --line: var(--parley-border, light-dark(#dde2e8, #333b46));
    --edge: var(--parley-border, light-dark(#757e8a, #7f8a97));
    --space: var(--parley-space, 1rem);
    --radius: var(--parley-radius, 14px);
    display: block;
    max-inline-size: 45rem;
    color: var(--text);
    font-family: var(--parley-font, inherit);
    line-height: 1.5;
    overflow-wrap: anywhere;
  }
  :host([theme='light']) {
    color-scheme: light;
  }
  :host([theme='dark']) {
    color-scheme: dark;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  .inbox {
    padding: var(--space);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface);
  }
  :host([collapsed]) .inbox {
    display: inline-block;
    padding: 0;
    border: 0;
    background: none;
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    gap: calc(var(--space) / 2) var(--space);
    align-items: center;
    justify-content: space-between;
  }
  h2,
  p,
  ul {
    margin: 0;
    padding: 0;
  }
  h2 {
    font-size: 1.125em;
    line-height: 1.3;
  }
  ul {
    list-style: none;
  }
  button {
    min-block-size: 2.75rem;
    margin: 0;
    color: inherit;
    font: inherit;
    text-align: start;
    cursor: pointer;
  }
  button:focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: -2px;
  }
  .chip {
    padding: 0.25rem 0.875rem;
    border: 1px solid var(--edge);
    border-radius: 99rem;
    background: var(--surface);
    font-weight: 600;
  }
  .chip.some {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--on-accent);
  }
  .quiet {
    color: var(--muted);
    font-size: 0.9375em;
  }
  .empty {
    padding-block: var(--space);
  }
  li {
    padding-block: calc(var(--space) / 2);
    border-block-end: 1px solid var(--line);
  }
  li:last-child {
    border-block-end: 0;
  }
  .disclosure {
    display: grid;
    grid-template-columns: 0.75rem minmax(0, 1fr);
    gap: 0.5rem;
    align-items: center;
    inline-size: 100%;
    padding: 0.25rem;
    border: 0;
    border-radius: calc(var(--radius) / 2);
    background: none;
    font-weight: 600;
  }
  /* Two borders of a box form an arrow, which also works in forced-colours mode. */
  .chip::after,
  .disclosure::before {
    content: '';
    display: inline-block;
    inline-size: 0.5rem;
    block-size: 0.5rem;
    border: solid currentColor;
    border-width: 0 2px 2px 0;
    rotate: -45deg;
  }
  .chip::after {
    margin-inline-start: 0.5rem;
    translate: 0 -0.125rem;
    rotate: 45deg;
  }
  .chip[aria-expanded='true']::after {
    translate: 0 0.125rem;
    rotate: 225deg;
  }
  .disclosure:dir(rtl)::before {
    rotate: 135deg;
  }
  .disclosure[aria-expanded='true']::before {
    rotate: 45deg;
  }
  /* A name in the other writing direction begins where all names begin. */
  .name {
    justify-self: start;
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .disclosure:hover .name {
    text-decoration: underline;
  }
  .about {
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space);
    padding-inline: 1.5rem 0.25rem;
  }
  .note {
    color: var(--text);
    font-weight: 600;
  }
  .panel {
    padding-block-start: calc(var(--space) / 2);
  }
  .remembered {
    margin-block-start: var(--space);
  }
  summary {
    min-block-size: 1.5rem;
    font-weight: 600;
    cursor: pointer;
  }
  remembered-approvals {
    padding-block: calc(var(--space) / 2);
  }
  .spoken {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (forced-colors: active) {
    .chip,
    .chip.some {
      border-color: ButtonBorder;
    }
    button:focus-visible {
      outline-color: Highlight;
    }
  }
`;
