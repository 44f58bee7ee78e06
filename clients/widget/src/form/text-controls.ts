import type { ControlKind, FormControl } from '@parley/core/domain/forms/controls';
import { ANSWER_TEXT_MAX } from '@parley/core/domain/forms/value';
import { lengthOf } from '@parley/core/domain/text';
import { html, nothing, type TemplateResult } from 'lit';
import { type Control, frame } from './control-frame.ts';
import { current } from './control-value.ts';

/** The input type of each kind; `text` for the others. */
const TYPES: { readonly [kind in ControlKind]?: string } = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

// Without these limits, browsers accept years of six digits, which no answer may contain.
const LAST: { readonly [kind in ControlKind]?: string } = {
  date: '9999-12-31',
  'date-time': '9999-12-31T23:59:59',
};

/** The control of a typed field. */
export function textControl(control: Control): TemplateResult {
  const { field, strings } = control;
  const hint =
    field.kind === 'date-time'
      ? strings.localTime(Intl.DateTimeFormat().resolvedOptions().timeZone)
      : strings.hint(field);
  return frame(control, { hint, room: roomText(control) }, (describedBy) => entry(control, describedBy));
}

function entry(
  { field, id, draft, error, isSensitive, change }: Control,
  describedBy: string | typeof nothing,
): TemplateResult {
  const { kind, isRequired } = field;
  const isProse = kind === 'text' && !isSensitive;
  const isTime = kind === 'date' || kind === 'date-time';
  const isWrong = error !== undefined;
  const value = current('value', typeof draft === 'string' ? draft : '');
  const onInput = (event: Event) => change((event.target as HTMLInputElement | HTMLTextAreaElement).value);
  if (field.hasLines) {
    return html`<textarea class="entry" id=${id} rows="3" dir="auto"
      autocomplete=${isSensitive ? 'off' : nothing} spellcheck=${isProse}
      aria-required=${isRequired} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${onInput}
    ></textarea>`;
  }
  return html`<input class="entry" id=${id} type=${TYPES[kind] ?? 'text'} dir=${isTime ? nothing : kind === 'text' ? 'auto' : 'ltr'}
    max=${LAST[kind] ?? nothing} inputmode=${hasDigitsOnly(field) ? 'numeric' : nothing}
    autocomplete=${isSensitive ? 'off' : kind === 'email' || kind === 'uri' ? TYPES[kind] : nothing} spellcheck=${isProse}
    aria-required=${isRequired} aria-invalid=${isWrong} aria-describedby=${describedBy} ${value} @input=${onInput}
  />`;
}

/** Whether a numeric keyboard is sufficient: some lack a minus, others a decimal point. */
function hasDigitsOnly({ kind, least = -1 }: FormControl): boolean {
  return kind === 'integer' && least >= 0;
}

/** How many more characters are allowed, if there are few. */
function roomText({ field, draft, strings }: Control): string | undefined {
  if (!['text', 'email', 'uri'].includes(field.kind) || typeof draft !== 'string' || draft === '')
    return undefined;
  const limit = field.most ?? ANSWER_TEXT_MAX;
  const left = limit - lengthOf(draft);
  return left <= Math.max(10, limit / 10) ? strings.room(left) : undefined;
}
