import { html, type TemplateResult } from 'lit';

/** Line drawings on a grid of 24. They are decoration, because the text beside them says the same. */
const PATHS = {
  question: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  lock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
  page: 'M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9',
  done: 'M5 12l5 5 9-9',
  no: 'M6 12h12',
  alert: 'M12 4L3 19h18zM12 10v4M12 17v0',
  turn: 'M20 12a8 8 0 1 1-8-8',
} as const;
export type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg class=${name} viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;
}
