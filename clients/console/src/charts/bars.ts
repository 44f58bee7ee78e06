import { html, nothing, svg, type TemplateResult } from 'lit';
import { numberIn } from '../parts/times.ts';

/** One bar of a chart. Its parts are drawn one after another. */
export interface ChartBar {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly value: number; readonly tone: string }[];
}

interface ChartProps {
  /** What the chart shows. */
  readonly title: string;
  readonly bars: readonly ChartBar[];
  /** A BCP 47 tag. */
  readonly lang: string;
  /** Formats a value; a plain number by default. */
  readonly format?: (value: number) => string;
}

const WIDTH = 300;
const BAR = 14;

/** The positions of a bar's parts, as shares of the longest bar. A part above zero is always visible. */
export function placesOf(
  { parts }: Pick<ChartBar, 'parts'>,
  largest: number,
): { readonly from: number; readonly to: number }[] {
  let from = 0;
  return parts.map(({ value }) => {
    const share = largest > 0 ? Math.max(0, value) / largest : 0;
    const place = { from, to: Math.min(1, from + (share > 0 ? Math.max(0.01, share) : 0)) };
    from = place.to;
    return place;
  });
}

/** The length of the longest bar. */
export function largestOf(bars: readonly Pick<ChartBar, 'parts'>[]): number {
  return Math.max(
    0,
    ...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + Math.max(0, value), 0)),
  );
}

/**
 * A chart of horizontal bars, each with its name and its values as text. Screen readers read only the text, which says
 * everything that the picture shows.
 */
export function barsView({
  title,
  bars,
  lang,
  format = (value) => numberIn(lang, value),
}: ChartProps): TemplateResult {
  const largest = largestOf(bars);
  return html`<figure class="chart"><figcaption>${title}</figcaption>
    <ul>${bars.map(
      (bar) => html`<li>
        <span class="bar-name">${bar.label}</span>
        <svg aria-hidden="true" viewBox="0 0 ${WIDTH} ${BAR}" preserveAspectRatio="none">
          <rect class="track" width=${WIDTH} height=${BAR} rx="3"></rect>
          ${placesOf(bar, largest).map(({ from, to }, at) =>
            to > from
              ? svg`<rect class=${bar.parts[at]?.tone ?? ''} x=${from * WIDTH} width=${(to - from) * WIDTH} height=${BAR} rx="2"></rect>`
              : nothing,
          )}
        </svg>
        <span class="bar-value">${valuesOf(bar, format)}</span>
      </li>`,
    )}</ul></figure>`;
}

function valuesOf({ parts }: ChartBar, format: (value: number) => string) {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return format(only.value);
  return parts
    .filter(({ value }) => value > 0)
    .map(({ name, value, tone }) => html`<span class="key ${tone}">${name} ${format(value)}</span> `);
}
