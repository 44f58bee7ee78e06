import { numberIn } from '@parley/widget/src/strings/time';
import { html, type TemplateResult } from 'lit';

interface Clock {
  readonly now: number;
  /** A BCP 47 tag. */
  readonly lang: string;
}

/** A moment with date and seconds. */
export function moment(iso: string, { lang }: Pick<Clock, 'lang'>): TemplateResult {
  return html`<time datetime=${iso}>${momentText(iso, lang)}</time>`;
}

export function momentText(iso: string, lang: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}

/** How long ago a moment was, with the moment itself as the title. */
export function ago(iso: string, { now, lang }: Clock): TemplateResult {
  return relative(iso, lang, Math.min(0, Date.parse(iso) - now));
}

/** How long it is until a future moment, or how long ago a past one was. */
export function until(iso: string, { now, lang }: Clock): TemplateResult {
  return relative(iso, lang, Date.parse(iso) - now);
}

function relative(iso: string, lang: string, ms: number): TemplateResult {
  const [amount, unit] = amountOf(Math.abs(ms) || 0);
  const text = new Intl.RelativeTimeFormat(lang).format(ms > 0 ? amount : -amount, unit);
  return html`<time datetime=${iso} title=${momentText(iso, lang)}>${text}</time>`;
}

function amountOf(ms: number): [number, 'second' | 'minute' | 'hour' | 'day'] {
  if (ms >= 172_800_000) return [Math.floor(ms / 86_400_000), 'day'];
  if (ms >= 7_200_000) return [Math.floor(ms / 3_600_000), 'hour'];
  return ms >= 60_000 ? [Math.floor(ms / 60_000), 'minute'] : [Math.floor(ms / 1_000), 'second'];
}

/** A duration in short form: `340 ms`, `2.4 s`, `3 min 12 s`, `4 h 5 min`, `2 d 3 h`. */
export function shortDuration(ms: number, lang: string): string {
  if (ms < 1_000) return `${numberIn(lang, Math.round(ms))} ms`;
  if (ms < 60_000) return `${numberIn(lang, Math.round(ms / 100) / 10)} s`;
  const [large, small, from, to] =
    ms < 3_600_000
      ? ([60_000, 1_000, 'min', 's'] as const)
      : ms < 86_400_000
        ? ([3_600_000, 60_000, 'h', 'min'] as const)
        : ([86_400_000, 3_600_000, 'd', 'h'] as const);
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${from}` : `${whole} ${from} ${rest} ${to}`;
}

export { numberIn };
