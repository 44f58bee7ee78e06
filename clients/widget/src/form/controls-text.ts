import { ANSWER_TEXT_MAX } from '@parley/shared/domain/forms/value';
import { lengthOf } from '@parley/shared/domain/text';
import { html, nothing, type TemplateResult } from 'lit';
import { current } from './controls-current.ts';
import { type Control, frame } from './controls-frame.ts';
import type { NumberLike, TextLike } from './fields.ts';

/** What is typed. */
export type Written = TextLike | NumberLike;

/** A text that may be longer than this gets several lines. */
const LINE_MAX = 200;

/** How a browser takes a kind of text; all others are plain. */
const TYPES: { readonly [kind in Written['kind']]?: string } = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

// Without these a browser lets people type years of six digits, which no answer may have.
const LAST: { readonly [kind in Written['kind']]?: string } = {
  date: '9999-12-31',
  'date-time': '9999-12-31T23:59:59',
};

/** The control for everything that is typed. */
export function writtenControl(control: Control<Written>): TemplateResult {
  const { field, strings } = control;
  const hint =
    field.kind === 'date-time'
      ? strings.localTime(Intl.DateTimeFormat().resolvedOptions().timeZone)
      : strings.hint(field);
  return frame(control, { hint, room: roomOf(control) }, (describedBy) => entry(control, describedBy));
}

function entry(
  { field, id, draft, error, isSensitive, change }: Control<Written>,
  describedBy: string | typeof nothing,
): TemplateResult {
  const { kind, required } = field;
  const isProse = kind === 'text' && !isSensitive;
  const isTime = kind === 'date' || kind === 'date-time';
  const isWrong = error !== undefined;
  const value = current('value', typeof draft === 'string' ? draft : '');
  const take = (event: Event) => change((event.target as HTMLInputElement | HTMLTextAreaElement).value);
  if (isLong(field)) {
    return html`<textarea class="entry" id=${id} rows="3" dir="auto"
      autocomplete=${isSensitive ? 'off' : nothing} spellcheck=${isProse}
      aria-required=${required} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${take}
    ></textarea>`;
  }
  return html`<input class="entry" id=${id} type=${TYPES[kind] ?? 'text'} dir=${isTime ? nothing : kind === 'text' ? 'auto' : 'ltr'}
    max=${LAST[kind] ?? nothing} inputmode=${hasDigitsOnly(field) ? 'numeric' : nothing}
    autocomplete=${isSensitive ? 'off' : kind === 'email' || kind === 'uri' ? TYPES[kind] : nothing} spellcheck=${isProse}
    aria-required=${required} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${take}
  />`;
}

/**
 * Whether a text gets several lines. Only where its bounds or its default call for them: most schemas that set no
 * bound ask for a name or a word, and there Enter has to send.
 */
function isLong(field: Written): boolean {
  if (field.kind !== 'text') return false;
  const { minLength = 0, maxLength = 0, initial } = field;
  return Math.max(minLength, maxLength) > LINE_MAX || (typeof initial === 'string' && initial.includes('\n'));
}

/** Whether a keyboard of digits will do: some have no minus, and others no point. */
function hasDigitsOnly(field: Written): boolean {
  return field.kind === 'integer' && (field.minimum ?? -1) >= 0;
}

/** How much more can be written, once that is little. */
function roomOf({ field, draft, strings }: Control<Written>): string | undefined {
  if (field.kind !== 'text' && field.kind !== 'email' && field.kind !== 'uri') return undefined;
  if (typeof draft !== 'string' || draft === '') return undefined;
  const most = Math.min(field.maxLength ?? ANSWER_TEXT_MAX, ANSWER_TEXT_MAX);
  const left = most - lengthOf(draft);
  return left <= Math.max(10, most / 10) ? strings.room(left) : undefined;
}
