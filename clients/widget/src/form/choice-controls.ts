/** The controls in which a person chooses: yes or no, one option, several options. Typed fields are in `text-controls.ts`. */

import type { FormControl } from '@parley/core/domain/forms/controls';
import { html, nothing, type TemplateResult } from 'lit';
import { type Control, frame, plainText } from './control-frame.ts';
import { current } from './control-value.ts';
import type { Draft } from './drafts.ts';

/** More choices than this are shown as a drop-down list. */
const RADIOS_MAX = 7;

/** Whether a field is a yes or no in which the person must choose one. */
export function isChoiceOfTwo({ kind, isRequired, initial }: FormControl): boolean {
  return kind === 'boolean' && isRequired && initial === undefined;
}

/** A checkbox. A required field without a default gets a yes and a no instead, because an untouched checkbox is no answer. */
export function yesNoControl(control: Control): TemplateResult {
  const { field, id, draft, strings, change } = control;
  if (isChoiceOfTwo(field)) {
    return radios(control, [
      { value: true, label: strings.yes },
      { value: false, label: strings.no },
    ]);
  }
  return frame(control, { isNamed: true }, (describedBy) =>
    choiceInput(control, { id, label: field.label, isChecked: draft === true, describedBy, change }),
  );
}

/** Radio buttons, or a drop-down list for many choices. An optional field also has a choice for no answer. */
export function selectControl(control: Control): TemplateResult {
  const { choices, isRequired } = control.field;
  if (choices.length > RADIOS_MAX) return list(control);
  const none = { value: undefined, label: control.strings.noAnswer };
  return radios(control, isRequired ? choices : [none, ...choices]);
}

/** Checkboxes in a group, with a hint that says how many to choose. */
export function multiControl(control: Control): TemplateResult {
  const { field, draft, strings, change } = control;
  const chosen = Array.isArray(draft) ? (draft as readonly string[]) : [];
  const boxes = field.choices.map(({ value, label }) =>
    choiceInput(control, {
      label,
      isChecked: chosen.includes(value),
      change: (isOn) => change(isOn ? [...chosen, value] : chosen.filter((other) => other !== value)),
    }),
  );
  return group(control, 'group', strings.hint(field), boxes);
}

function radios(
  control: Control,
  offered: readonly { readonly value: Draft; readonly label: string }[],
): TemplateResult {
  const buttons = offered.map(({ value, label }) =>
    choiceInput(control, {
      name: control.id,
      label,
      isChecked: control.draft === value,
      change: () => control.change(value),
    }),
  );
  return group(control, 'radiogroup', undefined, buttons);
}

function group(
  control: Control,
  role: 'group' | 'radiogroup',
  hint: string | undefined,
  offered: readonly TemplateResult[],
): TemplateResult {
  return frame(control, { group: role, hint }, () => html`<div class="choices">${offered}</div>`);
}

interface ChoiceInput {
  readonly id?: string;
  /** Only for a radio button: the name of its group. */
  readonly name?: string;
  readonly label: string;
  readonly isChecked: boolean;
  /** Absent within a group, which has its own description. */
  readonly describedBy?: string | typeof nothing;
  change(isChecked: boolean): void;
}

/** A radio button or a checkbox, with its label. */
function choiceInput({ error }: Control, input: ChoiceInput): TemplateResult {
  return html`<label class="choice">
    <input
      type=${input.name ? 'radio' : 'checkbox'}
      id=${input.id ?? nothing}
      name=${input.name ?? nothing}
      aria-invalid=${input.name ? nothing : error !== undefined}
      aria-describedby=${input.describedBy ?? nothing}
      ${current('checked', input.isChecked)}
      @change=${(event: Event) => input.change((event.target as HTMLInputElement).checked)}
    />
    ${plainText(input.label)}
  </label>`;
}

function list(control: Control): TemplateResult {
  const { field, id, draft, strings, error } = control;
  // The choice is found by index, because a value may be '' or contain characters that an attribute would change.
  const change = (event: Event) =>
    control.change(field.choices[(event.target as HTMLSelectElement).selectedIndex - 1]?.value);
  return frame(
    control,
    {},
    (describedBy) => html`<select
      class="entry"
      id=${id}
      autocomplete="off"
      aria-required=${field.isRequired}
      aria-invalid=${error !== undefined}
      aria-describedby=${describedBy}
      @change=${change}
    >
      <option ${current('selected', draft === undefined)}>${field.isRequired ? strings.choose : strings.noAnswer}</option>
      ${field.choices.map(
        ({ value, label }) =>
          html`<option dir="auto" ${current('selected', draft === value)}>${label}</option>`,
      )}
    </select>`,
  );
}
