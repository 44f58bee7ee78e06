import { html, nothing, type TemplateResult } from 'lit';
import { readableLine } from './card-text.ts';
import { current } from './controls-current.ts';
import {
  type Control,
  describedBy,
  errorId,
  errorOf,
  helpOf,
  hintOf,
  isInvalid,
  nameOf,
  words,
} from './controls-frame.ts';
import type { Draft, MultiSelect, Select, YesNo } from './fields.ts';
import { formWordsFor } from './form-words.ts';

/** More choices than this go into a list that opens. */
const RADIOS_MAX = 7;

/** One radio button: what it answers and how it is called. */
interface Radio {
  readonly value: Draft;
  readonly label: string;
}

/** One box; or a yes and a no, where leaving a box alone would be an answer that nobody gave. */
export function yesNoControl(control: Control<YesNo>): TemplateResult {
  if (!needsChoice(control.field)) return box(control);
  const { yes, no } = control.strings;
  return radios(control, [
    { value: true, label: yes },
    { value: false, label: no },
  ]);
}

/** Whether a yes or no has to be said: it is required, and the asker suggests neither. */
export function needsChoice({ required, schema }: YesNo): boolean {
  return required && schema.default === undefined;
}

/** Radio buttons, or a list that opens where they are many. What need not be answered can be taken back. */
export function selectControl(control: Control<Select>): TemplateResult {
  const { choices, required } = control.field;
  if (choices.length > RADIOS_MAX) return list(control);
  const none: Radio[] = required ? [] : [{ value: undefined, label: formWordsFor(control.strings).noAnswer }];
  return radios(control, [...none, ...choices]);
}

/** Boxes in a group that says how many to tick. */
export function multiControl(control: Control<MultiSelect>): TemplateResult {
  const { field, draft } = control;
  const chosen = Array.isArray(draft) ? (draft as readonly string[]) : [];
  return group(
    control,
    false,
    field.choices.map(({ value, label }) => {
      const change = (event: Event) => {
        const others = chosen.filter((other) => other !== value);
        control.change((event.target as HTMLInputElement).checked ? [...others, value] : others);
      };
      return html`<label class="choice">
        <input
          type="checkbox"
          aria-invalid=${isInvalid(control)}
          aria-describedby=${errorId(control)}
          ${current('checked', chosen.includes(value))}
          @change=${change}
        />
        <span>${words(label)}</span>
      </label>`;
    }),
  );
}

function box(control: Control<YesNo>): TemplateResult {
  const { id, draft, change } = control;
  return html`<div class="field" part="field">
    <label class="choice">
      <input
        type="checkbox"
        id=${id}
        aria-invalid=${isInvalid(control)}
        aria-describedby=${describedBy(control, undefined)}
        ${current('checked', draft === true)}
        @change=${(event: Event) => change((event.target as HTMLInputElement).checked)}
      />
      <span>${words(control.field.label)}</span>
    </label>
    ${helpOf(control)}${errorOf(control)}
  </div>`;
}

function radios(control: Control<YesNo | Select>, offered: readonly Radio[]): TemplateResult {
  return group(
    control,
    true,
    offered.map(
      ({ value, label }) => html`<label class="choice">
        <input
          type="radio"
          name=${control.id}
          aria-describedby=${errorId(control)}
          ${current('checked', control.draft === value)}
          @change=${() => control.change(value)}
        />
        <span>${words(label)}</span>
      </label>`,
    ),
  );
}

function list(control: Control<Select>): TemplateResult {
  const { field, id, draft, strings } = control;
  const hint = strings.hint(field);
  // By place, because a value may be '' or hold what an attribute would change.
  const change = (event: Event) =>
    control.change(field.choices[(event.target as HTMLSelectElement).selectedIndex - 1]?.value);
  return html`<div class="field" part="field">
    <label for=${id}>${nameOf(control)}</label>
    ${helpOf(control)}${hintOf(control, hint)}
    <select
      class="entry"
      id=${id}
      autocomplete="off"
      aria-required=${field.required ? 'true' : nothing}
      aria-invalid=${isInvalid(control)}
      aria-describedby=${describedBy(control, hint)}
      @change=${change}
    >
      <option ${current('selected', draft === undefined)}>
        ${field.required ? strings.choose : formWordsFor(strings).noAnswer}
      </option>
      ${field.choices.map(
        ({ value, label }) =>
          html`<option dir="auto" ${current('selected', draft === value)}>${readableLine(label)}</option>`,
      )}
    </select>
    ${errorOf(control)}
  </div>`;
}

function group(control: Control, isOneOf: boolean, offered: TemplateResult[]): TemplateResult {
  const { field, id, strings } = control;
  const hint = strings.hint(field);
  // A plain group takes neither of the two; there the mark and each box say it.
  return html`<fieldset
    class="field"
    part="field"
    role=${isOneOf ? 'radiogroup' : 'group'}
    aria-labelledby="${id}-name"
    aria-required=${isOneOf && field.required ? 'true' : nothing}
    aria-invalid=${isOneOf ? isInvalid(control) : nothing}
    aria-describedby=${describedBy(control, hint)}
  >
    <legend id="${id}-name">${nameOf(control)}</legend>
    ${helpOf(control)}${hintOf(control, hint)}
    <div class="choices">${offered}</div>
    ${errorOf(control)}
  </fieldset>`;
}
