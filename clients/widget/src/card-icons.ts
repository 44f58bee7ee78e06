import { html, type TemplateResult } from 'lit';

/** Line drawings on a grid of 24; decoration only, words beside them say the same. */
const PATHS = {
  question: 'M4 5h16v11H9l-5 4zM10 8.8a2 2 0 1 1 2.6 1.9c-.4.2-.6.4-.6.9M12 13.5v0',
  key: 'M8 12a4 4 0 1 0 0 8a4 4 0 0 0 0-8M11 13l9-9M17 7l3 3M13.5 10.5l2 2',
  page: 'M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9',
  done: 'M5 12.5l4.5 4.5L19 7.5',
  no: 'M6 12h12',
  clock: 'M12 4a8 8 0 1 0 0 16a8 8 0 0 0 0-16M12 8v4.5l3 1.5',
  away: 'M4 4l16 16M12 19v0M8.5 15.5a5 5 0 0 1 7 0M5 11.5a10 10 0 0 1 14 0',
  look: 'M12 4L2.8 19.5h18.4zM12 10v4.5M12 17v0',
  turn: 'M20 12a8 8 0 1 1-5-7.4',
} as const;
export type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;
}
