import { css } from 'lit';

export const styles = css`
  :host {
    display: block;
    font: 14px/1.45 system-ui, sans-serif;
  }
  :host([hidden]) {
    display: none;
  }
  figure {
    margin: 0;
    overflow: hidden;
    border: 1px solid color-mix(in srgb, currentColor 25%, transparent);
    border-radius: 10px;
  }
  figure.plain {
    border-color: transparent;
  }
  figcaption,
  .bar {
    padding: 6px 12px;
  }
  figcaption {
    font-size: 12px;
    opacity: 0.8;
  }
  iframe {
    display: block;
    width: 100%;
    height: 120px;
    border: 0;
  }
  .bar {
    border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent);
  }
  .url {
    overflow-wrap: anywhere;
    font-family: ui-monospace, monospace;
  }
  button {
    font: inherit;
    color: inherit;
    margin: 6px 6px 0 0;
    padding: 6px 12px;
    min-height: 36px;
    border: 1px solid currentColor;
    border-radius: 8px;
    background: transparent;
    cursor: pointer;
  }
  button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  p {
    margin: 0;
  }
`;
