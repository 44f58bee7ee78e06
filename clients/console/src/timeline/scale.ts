import type { TimelineRow } from './rows.ts';

/** A scale: where the picture shows each moment. */
export interface TimeScale {
  /** Maps a moment, in ms since 1970, to a place between 0 and 1. */
  at(ms: number): number;
  /** The labelled moments of the axis, with their places; the first is the start. */
  readonly ticks: readonly { readonly ms: number; readonly at: number }[];
  /** Whether long periods without a change are drawn shorter than they were. */
  readonly isShortened: boolean;
}

/**
 * The weight of a period without a change is the logarithm of its length, so that a second of work is visible beside an hour of
 * waiting.
 */
const weightOf = (ms: number) => Math.log1p(ms / 200);
/** The minimum distance between two ticks, as a share of the width. */
const TICK_GAP = 0.09;

/** A scale on which every bar is visible. */
export function shortenedScale(rows: readonly TimelineRow[]): TimeScale {
  const moments = [
    ...new Set(rows.flatMap(({ spans }) => spans.flatMap(({ start, end }) => [start, end]))),
  ].sort((a, b) => a - b);
  const places: number[] = [0];
  for (let at = 1; at < moments.length; at += 1)
    places.push((places[at - 1] ?? 0) + weightOf((moments[at] ?? 0) - (moments[at - 1] ?? 0)));
  const whole = places.at(-1) || 1;
  const placeAt = (ms: number) => {
    const next = moments.findIndex((one) => one >= ms);
    if (next < 0) return 1;
    if (next === 0) return 0;
    const [from = 0, to = 0] = [moments[next - 1], moments[next]];
    const [low = 0, high = 0] = [places[next - 1], places[next]];
    return (low + ((ms - from) / (to - from)) * (high - low)) / whole;
  };
  const ticks: { ms: number; at: number }[] = [];
  for (const ms of moments) {
    const at = placeAt(ms);
    if (at - (ticks.at(-1)?.at ?? -1) >= TICK_GAP) ticks.push({ ms, at });
  }
  return { at: placeAt, ticks, isShortened: true };
}

const NICE_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  72e5, 108e5, 216e5, 432e5, 864e5,
];
const TICKS_MAX = 8;

/** A linear scale. */
export function evenScale(rows: readonly TimelineRow[]): TimeScale {
  const all = rows.flatMap(({ spans }) => spans);
  const start = Math.min(...all.map((span) => span.start));
  const end = Math.max(...all.map((span) => span.end));
  const whole = Math.max(1, end - start);
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - start) / whole));
  const day = NICE_MS.at(-1) ?? 1;
  const step = NICE_MS.find((ms) => whole / ms <= TICKS_MAX) ?? Math.ceil(whole / TICKS_MAX / day) * day;
  const count = Math.floor(whole / step) + 1;
  const ticks = Array.from({ length: count }, (_, index) => ({
    ms: start + index * step,
    at: at(start + index * step),
  }));
  return { at, ticks, isShortened: false };
}

/** Chooses the initial scale: the linear one, unless one period would leave hardly any room for all others. */
export function isShortenedBetter(rows: readonly TimelineRow[]): boolean {
  const even = evenScale(rows);
  const moments = rows.flatMap(({ spans }) =>
    spans.flatMap(({ start, end }) => [even.at(start), even.at(end)]),
  );
  const places = [...new Set(moments)].sort((a, b) => a - b);
  const longest = Math.max(0, ...places.map((at, index) => at - (places[index - 1] ?? at)));
  return longest > 0.6 && places.length > 3;
}
