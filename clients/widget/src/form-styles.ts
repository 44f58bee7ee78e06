import { css } from 'lit';

/** How the fields look, in the colours and measures of the card's own styles. */
export const formStyles = css`
  .form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: calc(var(--space) * 1.25);
  }
  .form,
  .form fieldset {
    min-inline-size: 0;
    margin: 0;
    padding: 0;
    border: 0;
  }
  .form p {
    margin: 0;
    white-space: pre-line;
  }
  .form-title,
  .field > :is(label:not(.choice), legend) {
    font-weight: 600;
  }
  .enter {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    padding: 0;
    border: 0;
    clip-path: inset(50%);
  }
  .field > :is(label:not(.choice), legend) {
    display: block;
    max-inline-size: 100%;
    margin: 0;
    padding: 0 0 0.25rem;
  }
  .mark,
  .help {
    color: var(--quiet);
    font-size: 0.9375em;
    font-weight: 400;
  }
  .field > .help {
    margin-block-end: 0.375rem;
  }
  .field > .help.after {
    margin-block: 0.25rem 0;
  }
  .field > .error {
    margin-block-start: 0.375rem;
    padding-inline-start: 0.625rem;
    border-inline-start: 3px solid currentColor;
    color: var(--danger);
    font-weight: 600;
  }

  .entry {
    box-sizing: border-box;
    display: block;
    inline-size: 100%;
    min-block-size: 2.75rem;
    margin: 0;
    padding: 0.5rem 0.75rem;
    border: 1px solid var(--edge);
    border-radius: calc(var(--radius) * 0.66);
    background-color: var(--surface);
    color: inherit;
    font: inherit;
    text-align: start;
  }
  textarea.entry {
    min-block-size: 6rem;
    max-block-size: 20rem;
    resize: vertical;
    field-sizing: content;
  }
  .entry[aria-invalid='true'] {
    padding: calc(0.5rem - 1px) calc(0.75rem - 1px);
    border: 2px solid var(--danger);
  }

  .choices {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    max-block-size: 22rem;
    /* Room for the focus ring, which scrolling would cut off. */
    margin: -0.25rem;
    padding: 0.25rem;
    overflow-y: auto;
  }
  .choice {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0.625rem;
    align-items: start;
    padding-block: 0.3125rem;
    cursor: pointer;
  }
  .choice input {
    inline-size: 1.5rem;
    block-size: 1.5rem;
    margin: 0;
    accent-color: var(--accent);
    cursor: inherit;
  }
  :is([role='radiogroup'][aria-invalid='true'] .choice, .choice:has([aria-invalid='true'])) input {
    outline: 2px solid var(--danger);
    outline-offset: 1px;
  }

  .form :is(.entry, input):focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: 2px;
  }
  .form :disabled {
    opacity: 0.7;
    cursor: default;
  }
  @media (forced-colors: active) {
    .form :is(.entry, input):focus-visible {
      outline-color: Highlight;
    }
    .form :disabled {
      opacity: 1;
    }
  }
`;
