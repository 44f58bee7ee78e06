import { ANSWER_TEXT_MAX } from '@parley/shared/domain/form-value';
import { lengthOf } from '@parley/shared/domain/text';
import { html, nothing, type TemplateResult } from 'lit';
import { current } from './controls-current.ts';
import {
  type Control,
  describedBy,
  errorOf,
  helpOf,
  hintOf,
  isInvalid,
  nameOf,
  words,
} from './controls-frame.ts';
import type { NumberLike, TextLike } from './fields.ts';
import { formWordsFor } from './form-words.ts';

/** What is typed. */
export type Written = TextLike | NumberLike;

/** A text that may be longer than this gets several lines. */
const LINE_MAX = 200;

const TYPES = {
  text: 'text',
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
  number: 'text',
  integer: 'text',
} as const satisfies Record<Written['kind'], string>;

// Without these a browser lets people type years of six digits, which no answer may have.
const LAST: Partial<Record<Written['kind'], string>> = {
  date: '9999-12-31',
  'date-time': '9999-12-31T23:59:59',
};

const AUTOCOMPLETE: Partial<Record<Written['kind'], string>> = { email: 'email', uri: 'url' };

/** The control for everything that is typed. */
export function writtenControl(control: Control<Written>): TemplateResult {
  const hint = hintFor(control);
  const room = roomOf(control);
  const described = describedBy(control, hint, room);
  return html`<div class="field" part="field">
    <label for=${control.id}>${nameOf(control)}</label>
    ${helpOf(control)}${hintOf(control, hint)}
    ${isLong(control.field) ? linesOf(control, described) : lineOf(control, described)}
    ${room === undefined ? nothing : html`<p class="help after" id="${control.id}-room">${words(room)}</p>`}
    ${errorOf(control)}
  </div>`;
}

function lineOf(control: Control<Written>, described: string | typeof nothing): TemplateResult {
  const { field, id, isSensitive } = control;
  const isProse = field.kind === 'text' && !isSensitive;
  return html`<input
    class="entry"
    id=${id}
    type=${TYPES[field.kind]}
    inputmode=${keyboardOf(field) ?? nothing}
    autocomplete=${isSensitive ? 'off' : (AUTOCOMPLETE[field.kind] ?? nothing)}
    autocapitalize=${isProse ? nothing : 'off'}
    spellcheck=${isProse ? 'true' : 'false'}
    dir=${directionOf(field)}
    max=${LAST[field.kind] ?? nothing}
    aria-required=${field.required ? 'true' : nothing}
    aria-invalid=${isInvalid(control)}
    aria-describedby=${described}
    ${current('value', textOf(control))}
    @input=${(event: Event) => take(control, event)}
  />`;
}

function linesOf(control: Control<Written>, described: string | typeof nothing): TemplateResult {
  const { field, id, isSensitive } = control;
  return html`<textarea
    class="entry"
    id=${id}
    rows="3"
    dir="auto"
    autocomplete=${isSensitive ? 'off' : nothing}
    spellcheck=${isSensitive ? 'false' : 'true'}
    aria-required=${field.required ? 'true' : nothing}
    aria-invalid=${isInvalid(control)}
    aria-describedby=${described}
    ${current('value', textOf(control))}
    @input=${(event: Event) => take(control, event)}
  ></textarea>`;
}

function take(control: Control, event: Event): void {
  control.change((event.target as HTMLInputElement | HTMLTextAreaElement).value);
}

function textOf({ draft }: Control): string {
  return typeof draft === 'string' ? draft : '';
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

/** A keyboard of digits, where they are all it takes: some have no minus, and others no point. */
function keyboardOf(field: Written): 'numeric' | undefined {
  return field.kind === 'integer' && (field.minimum ?? -1) >= 0 ? 'numeric' : undefined;
}

function directionOf({ kind }: Written): 'auto' | 'ltr' | typeof nothing {
  if (kind === 'text') return 'auto';
  return kind === 'date' || kind === 'date-time' ? nothing : 'ltr';
}

function hintFor({ field, strings }: Control<Written>): string | undefined {
  if (field.kind !== 'date-time') return strings.hint(field);
  return strings.localTime(Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** How much more can be written, once that is little. */
function roomOf({ field, draft, strings }: Control<Written>): string | undefined {
  if (field.kind !== 'text' && field.kind !== 'email' && field.kind !== 'uri') return undefined;
  if (typeof draft !== 'string' || draft === '') return undefined;
  const most = Math.min(field.maxLength ?? ANSWER_TEXT_MAX, ANSWER_TEXT_MAX);
  const left = most - lengthOf(draft);
  return left <= Math.max(10, most / 10) ? formWordsFor(strings).room(left) : undefined;
}
