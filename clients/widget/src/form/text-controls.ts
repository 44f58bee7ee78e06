import { ANSWER_TEXT_MAX } from '@parley/shared/domain/forms/value';
import { lengthOf } from '@parley/shared/domain/text';
import { html, nothing, type TemplateResult } from 'lit';
import { type Control, frame } from './control-frame.ts';
import { current } from './control-value.ts';
import type { NumberLike, TextLike } from './fields.ts';

/** A field whose value is typed. */
export type TypedField = TextLike | NumberLike;

/** A text that may have more characters gets several lines. */
const LINE_MAX = 200;

/** The input type of each kind; `text` for the others. */
const TYPES: { readonly [kind in TypedField['kind']]?: string } = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

// Without these a browser accepts years of six digits, which no answer may have.
const LAST: { readonly [kind in TypedField['kind']]?: string } = {
  date: '9999-12-31',
  'date-time': '9999-12-31T23:59:59',
};

/** The control of a typed field. */
export function textControl(control: Control<TypedField>): TemplateResult {
  const { field, strings } = control;
  const hint =
    field.kind === 'date-time'
      ? strings.localTime(Intl.DateTimeFormat().resolvedOptions().timeZone)
      : strings.hint(field);
  return frame(control, { hint, room: roomText(control) }, (describedBy) => entry(control, describedBy));
}

function entry(
  { field, id, draft, error, isSensitive, change }: Control<TypedField>,
  describedBy: string | typeof nothing,
): TemplateResult {
  const { kind, required } = field;
  const isProse = kind === 'text' && !isSensitive;
  const isTime = kind === 'date' || kind === 'date-time';
  const isWrong = error !== undefined;
  const value = current('value', typeof draft === 'string' ? draft : '');
  const onInput = (event: Event) => change((event.target as HTMLInputElement | HTMLTextAreaElement).value);
  if (isLong(field)) {
    return html`<textarea class="entry" id=${id} rows="3" dir="auto"
      autocomplete=${isSensitive ? 'off' : nothing} spellcheck=${isProse}
      aria-required=${required} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${onInput}
    ></textarea>`;
  }
  return html`<input class="entry" id=${id} type=${TYPES[kind] ?? 'text'} dir=${isTime ? nothing : kind === 'text' ? 'auto' : 'ltr'}
    max=${LAST[kind] ?? nothing} inputmode=${hasDigitsOnly(field) ? 'numeric' : nothing}
    autocomplete=${isSensitive ? 'off' : kind === 'email' || kind === 'uri' ? TYPES[kind] : nothing} spellcheck=${isProse}
    aria-required=${required} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${onInput}
  />`;
}

/**
 * Whether a text gets several lines: only if its bounds or its default require that. Most schemas without bounds ask for a
 * name or a word, and there Enter must send the form.
 */
function isLong(field: TypedField): boolean {
  if (field.kind !== 'text') return false;
  const { minLength = 0, maxLength = 0, initial } = field;
  return Math.max(minLength, maxLength) > LINE_MAX || (typeof initial === 'string' && initial.includes('\n'));
}

/** Whether a numeric keyboard suffices: some have no minus, others no decimal point. */
function hasDigitsOnly(field: TypedField): boolean {
  return field.kind === 'integer' && (field.minimum ?? -1) >= 0;
}

/** How many more characters are allowed, once these are few. */
function roomText({ field, draft, strings }: Control<TypedField>): string | undefined {
  if (field.kind !== 'text' && field.kind !== 'email' && field.kind !== 'uri') return undefined;
  if (typeof draft !== 'string' || draft === '') return undefined;
  const limit = Math.min(field.maxLength ?? ANSWER_TEXT_MAX, ANSWER_TEXT_MAX);
  const left = limit - lengthOf(draft);
  return left <= Math.max(10, limit / 10) ? strings.room(left) : undefined;
}
