import { css } from '../css.ts';

/** Styles of the fields, in the colours and sizes of the card. */
export const formStyles = css`
  .form {
    gap: calc(var(--space) * 1.25);
  }
  .form[aria-busy='true'] {
    opacity: 0.85;
  }
  .name {
    display: block;
    padding-block-end: 0.25rem;
  }
  .help,
  .hint {
    margin-block-end: 0.25rem;
  }
  .error {
    margin-block-start: 0.25rem;
    padding-inline-start: 0.5rem;
    border-inline-start: 3px solid;
  }
  .entry {
    display: block;
    inline-size: 100%;
    padding: 0.5rem 0.75rem;
    background: var(--surface);
  }
  textarea {
    max-block-size: 20rem;
    resize: vertical;
    field-sizing: content;
  }
  .choices {
    gap: 0;
    max-block-size: 20rem;
    /* Room for the focus ring, which scrolling would cut off. */
    margin: -0.25rem;
    padding: 0.25rem;
    overflow-y: auto;
  }
  .choice {
    padding-block: 0.625rem;
    cursor: pointer;
  }
  .choice bdi {
    justify-self: start;
  }
  .choice input {
    inline-size: 1.5rem;
    block-size: 1.5rem;
    margin: 0;
    accent-color: var(--accent);
  }
  :where([aria-invalid='true'].entry, [aria-invalid='true'] input, input[aria-invalid='true']) {
    outline: 2px solid var(--danger);
  }
`;
