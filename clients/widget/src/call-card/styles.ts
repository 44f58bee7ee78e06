import { css } from '../css.ts';

/** The styles of the page around the cards, in the colours of its host if the host gives them. */
export const pageStyles = css`
  :root {
    color-scheme: light dark;
    overflow: auto;
    --parley-text: var(--color-text-primary, light-dark(#1a1f26, #e7eaee));
    --parley-surface: var(--color-background-primary, light-dark(#fff, #191e25));
    --parley-font: var(--font-sans, system-ui, sans-serif);
    --parley-radius: var(--border-radius-lg, 14px);
    background: transparent;
    color: var(--parley-text);
    font: 1rem/1.5 var(--parley-font);
  }
  body {
    margin: 0;
  }
  main {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.75rem;
  }
  main > :not(elicitation-card, approval-card) {
    max-inline-size: 42rem;
    margin: 0;
    overflow-wrap: anywhere;
  }
  /* An empty paragraph stays a live region, but takes no space. */
  main > p:empty {
    position: absolute;
  }
  /* What is decided on a page is not declined here either. */
  .on-page::part(decline),
  .on-page::part(cancel) {
    display: none;
  }
  /* In the colours of the host, like the text. */
  progress {
    inline-size: 100%;
    accent-color: currentColor;
  }
  a {
    color: inherit;
  }
  button {
    justify-self: start;
    padding: 0.5rem 1rem;
    border: 1px solid;
    border-radius: 0.5rem;
    background: none;
    color: inherit;
    font: inherit;
    cursor: pointer;
  }
  button:focus-visible {
    outline: 2px solid;
    outline-offset: 2px;
  }
`;
