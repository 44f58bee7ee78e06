/** Draws the timeline as SVG. Which rows and bars there are is decided in `rows.ts`, and their positions in `scale.ts`. */

import { readableLine } from '@parley/core/domain/readable';
import { html, nothing, type SVGTemplateResult, svg, type TemplateResult } from 'lit';
import { wordOf } from '../parts/texts.ts';
import { shortDuration } from '../parts/times.ts';
import type { ConsoleStrings } from '../strings/en.ts';
import type { TimelineRow, TimelineSpan } from './rows.ts';
import type { TimeScale } from './scale.ts';

const AXIS = 28;
const BAR = 18;
const INDENT = 14;
/** In pictures that are narrower than this, the names of the rows are above the bars. */
const WIDE = 640;
const GUTTER = 148;
const PADDING = 6;
const CHARACTER = 6.6;

interface PictureProps {
  readonly rows: readonly TimelineRow[];
  readonly scale: TimeScale;
  /** The width, in px. */
  readonly width: number;
  readonly words: ConsoleStrings;
}

/** The turn as a picture. The table beside it has the same content. */
export function pictureView({ rows, scale, width, words }: PictureProps): TemplateResult {
  const isWide = width >= WIDE;
  const left = isWide ? GUTTER : PADDING;
  const layout = { left, room: width - left - PADDING, step: isWide ? 26 : 40, isWide, words, scale };
  const tops = topsOf(rows, layout.step);
  const height = (tops.at(-1) ?? AXIS) + layout.step + PADDING;
  return html`<svg class="timeline" role="img" aria-label=${words.pictureOfTurn} viewBox="0 0 ${width} ${height}" width=${width} height=${height}>
    <defs>
      <pattern id="queued" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" class="hatch-ground"></rect><rect width="2" height="6" class="hatch"></rect>
      </pattern>
    </defs>
    ${spaced(scale.ticks, layout.room).map(({ ms, at }, index) => tickView(layout, { at, index, height, ms: ms - (scale.ticks[0]?.ms ?? ms) }))}
    ${rows.map((row, index) => rowView(layout, row, { top: tops[index] ?? 0, isFirst: isFirstOfType(rows, index) }))}
  </svg>`;
}

/** The ticks whose labels fit beside each other. */
export function spaced(ticks: TimeScale['ticks'], room: number): TimeScale['ticks'] {
  let last = Number.NEGATIVE_INFINITY;
  return ticks.filter(({ at }, index) => {
    // So that no label is cut off, the first one starts at its line, the last ones end at theirs, and all others are centred.
    const gap = (index === 1 ? 48 : 68) / room;
    if (at - last < gap) return false;
    last = at;
    return true;
  });
}

interface PictureLayout {
  readonly left: number;
  readonly room: number;
  readonly step: number;
  readonly isWide: boolean;
  readonly words: ConsoleStrings;
  readonly scale: TimeScale;
}

/** The tops of the rows. The rows of a delegate have a small gap above them. */
function topsOf(rows: readonly TimelineRow[], step: number): number[] {
  let top = AXIS;
  return rows.map((row, index) => {
    if (row.type === 'run' && index > 0) top += 10;
    const here = top;
    top += step;
    return here;
  });
}

function isFirstOfType(rows: readonly TimelineRow[], index: number): boolean {
  const [before, row] = [rows[index - 1], rows[index]];
  return before?.type !== row?.type || before?.run !== row?.run;
}

interface Tick {
  readonly ms: number;
  readonly at: number;
  readonly index: number;
  readonly height: number;
}

function tickView({ left, room, words }: PictureLayout, { ms, at, index, height }: Tick): SVGTemplateResult {
  const x = left + at * room;
  const isLate = at > 0.9;
  return svg`<line class="grid" x1=${x} x2=${x} y1=${AXIS - 6} y2=${height}></line>
    <text class="tick" x=${x} y="14" text-anchor=${isLate ? 'end' : index === 0 ? 'start' : 'middle'}>${index === 0 ? '0' : `+${shortDuration(ms, words.lang)}`}</text>`;
}

function rowView(
  layout: PictureLayout,
  row: TimelineRow,
  { top, isFirst }: { readonly top: number; readonly isFirst: boolean },
): SVGTemplateResult {
  const { isWide, words, step, left, room } = layout;
  const indent = Math.min(row.depth, 4) * INDENT;
  const name = row.type === 'run' ? readableLine(row.agent) : words.timelineRows[row.type];
  const barTop = isWide ? top + (step - BAR) / 2 : top + step - BAR - 2;
  const label = cut(name, isWide ? (GUTTER - indent) / CHARACTER - 1 : 40);
  return svg`<g class="row ${row.type}">
    ${row.type === 'run' ? svg`<line class="between" x1=${PADDING} x2=${left + room} y1=${top - 2} y2=${top - 2}></line>` : nothing}
    ${isFirst ? svg`<text class="rowname" x=${PADDING + indent} y=${isWide ? top + step / 2 + 4 : top + 13}>${label}</text>` : nothing}
    ${row.spans.map((span) => spanView(layout, span, barTop))}
  </g>`;
}

function spanView(
  { left, room, scale, words }: PictureLayout,
  span: TimelineSpan,
  top: number,
): SVGTemplateResult {
  const x = left + scale.at(span.start) * room;
  const width = Math.max(3, (scale.at(span.end) - scale.at(span.start)) * room);
  const label = labelOf(span, words);
  const shown = cut(label, (width - 8) / CHARACTER);
  const took = shortDuration(span.end - span.start, words.lang);
  return svg`<g class="span ${span.kind} ${span.lasts ? 'lasts' : ''}">
    <title>${label} · ${span.lasts ? words.lastsFor(took) : took}</title>
    <rect x=${x} y=${top} width=${width} height=${BAR} rx="3"></rect>
    ${shown === '' ? nothing : svg`<text x=${x + 5} y=${top + 13}>${shown}</text>`}
    ${span.isTakeOver ? svg`<path class="takeover" d=${`M${x} ${top - 4}l5 -5h-10z M${x - 1} ${top - 4}h2v${BAR + 6}h-2z`}><title>${words.takeOver}</title></path>` : nothing}
  </g>`;
}

/** The label of a bar. */
export function labelOf(
  { kind, label }: Pick<TimelineSpan, 'kind' | 'label'>,
  words: ConsoleStrings,
): string {
  if (kind === 'queued' || kind === 'detached') return words.turnStates[kind];
  if (kind === 'step') return words.stepNumber(label);
  return kind === 'wait' ? wordOf(words.triggers, label) : readableLine(label);
}

/** As much of a text as fits; empty if only a letter or two would fit. */
export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return characters < 4 ? '' : `${text.slice(0, Math.floor(characters) - 1)}…`;
}
