/**
 * The styles that only approval cards need. Everything that they share with questions is in `card/styles.ts` and
 * `form/styles.ts`.
 */

import { css } from '../css.ts';

/** The styles of an approval card, applied after those of the question card and its fields. */
export const approvalStyles = css`
  .call {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.75rem;
  }
  .call[role='group'] {
    padding-block-start: var(--space);
    border-block-start: 1px solid var(--line);
  }
  .call .name {
    padding: 0;
  }
  .call:not(:has(.actions)) {
    --tone: var(--quiet);
  }
  .call[data-state='approved'],
  .call[data-state='edited'] {
    --tone: light-dark(#176b43, #7fd6a6);
  }
  .call[data-state='expired'] {
    --tone: light-dark(#7a4a00, #f2cd8a);
  }
  .hints,
  .arguments,
  dd {
    margin: 0;
    padding: 0;
  }
  .hints {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    list-style: none;
  }
  .hints li {
    display: inline-flex;
    gap: 0.5rem;
    align-items: center;
    padding: 0.125rem 0.625rem;
    border-radius: 99rem;
    background: color-mix(in srgb, var(--tone) 10%, transparent);
    font-size: 0.9375em;
  }
  .hints svg {
    flex: none;
    color: var(--tone);
  }
  .arguments {
    display: grid;
    gap: 0.5rem;
  }
  .arguments .arguments {
    margin-block: 0.5rem;
    padding-inline-start: 0.75rem;
    border-inline-start: 2px solid var(--line);
  }
  .arguments > div {
    display: grid;
    grid-template-columns: minmax(5rem, 10rem) minmax(0, 1fr);
    gap: 0 0.75rem;
  }
  dd code {
    color: var(--text);
  }
  dd .long {
    max-block-size: 12rem;
    font-size: 0.9375em;
  }
  summary {
    min-block-size: 1.5rem;
    font-weight: 600;
    cursor: pointer;
  }
  .remember .choice {
    padding-block: 0.25rem;
  }
  .remember .help {
    margin-inline-start: 2.25rem;
  }
  .deny {
    color: var(--danger);
  }
  .all {
    padding-block-start: var(--space);
    border-block-start: 1px solid var(--line);
  }
  :host([data-over]) .call {
    margin-inline-start: 3rem;
    gap: 0.25rem;
  }
  :host([data-over]) .call .words {
    margin: 0;
  }
  @media (max-width: 30rem) {
    .arguments > div {
      grid-template-columns: minmax(0, 1fr);
    }
    :host([data-over]) .call {
      margin-inline-start: 0;
    }
  }
`;
