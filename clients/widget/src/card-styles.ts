import { css } from 'lit';

const address = css`
  .address {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.25rem;
    padding: 0.625rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) * 0.66);
    background: color-mix(in srgb, var(--surface), var(--quiet) 5%);
  }
  .address code {
    color: var(--quiet);
    font-family: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace;
    font-size: 0.875em;
    overflow-wrap: anywhere;
    word-break: break-all;
  }
  .address b {
    color: var(--text);
    font-weight: 700;
  }
  .address .caption {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.75rem;
    align-items: center;
    justify-content: space-between;
    color: var(--quiet);
    font-size: 0.875em;
  }
  .waiting svg,
  .turning svg {
    animation: parley-turn 1.4s linear infinite;
  }
  @keyframes parley-turn {
    to {
      rotate: 1turn;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .waiting svg,
    .turning svg,
    .bone {
      animation: none;
    }
  }
  .bone {
    block-size: 0.75rem;
    border-radius: 0.375rem;
    background: color-mix(in srgb, var(--quiet) 16%, transparent);
    animation: parley-breathe 1.6s ease-in-out infinite alternate;
  }
  .bone:nth-child(odd) {
    inline-size: 60%;
  }
  @keyframes parley-breathe {
    to {
      opacity: 0.45;
    }
  }
`;

const actions = css`
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    align-items: center;
    padding-block: 0.25rem;
    background: var(--surface);
  }
  @media (min-height: 32rem) {
    /* In a card taller than the window one can leave at any time. The shadow is a fade of what scrolls below. */
    .actions.near {
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
    justify-content: center;
    min-block-size: 2.75rem;
    padding: 0.375rem 1rem;
    border: 1px solid var(--edge);
    border-radius: calc(var(--radius) * 0.66);
    background: transparent;
    color: var(--text);
    font: inherit;
    font-weight: 600;
    text-decoration: none;
    cursor: pointer;
  }
  .button:hover {
    background: color-mix(in srgb, var(--text) 6%, transparent);
  }
  .primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--on-accent);
  }
  .primary:hover {
    background: color-mix(in srgb, var(--accent), var(--text) 14%);
  }
  .plain {
    padding-inline: 0.625rem;
    border-color: transparent;
    color: var(--quiet);
  }
  .small {
    margin-inline: -0.375rem;
    min-block-size: 1.75rem;
    padding: 0 0.375rem;
    color: var(--accent);
    font-size: 1em;
  }
  .button[aria-disabled='true'] {
    border-color: var(--line);
    color: var(--quiet);
    cursor: default;
  }
  .primary[aria-disabled='true'] {
    background: color-mix(in srgb, var(--quiet) 12%, transparent);
  }
  .plain[aria-disabled='true'] {
    border-color: transparent;
  }
  .button:focus-visible,
  .words:focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: 2px;
  }
  @media (forced-colors: active) {
    .card,
    .badge,
    .note {
      border: 1px solid CanvasText;
    }
    .primary {
      border-width: 3px;
    }
    .button[aria-disabled='true'] {
      border-color: GrayText;
      color: GrayText;
    }
  }
`;

/** The address of a page, what can be done, and what moves. */
export const partStyles = [address, actions];
