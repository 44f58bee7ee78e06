import { html, nothing, type TemplateResult } from 'lit';
import { readableLine } from '../card/text.ts';
import { current } from './controls-current.ts';
import { type Control, frame, words } from './controls-frame.ts';
import type { Draft, MultiSelect, Select, YesNo } from './fields.ts';

/** More choices than this go into a list that opens. */
const RADIOS_MAX = 7;

/** One box; or a yes and a no, where leaving a box alone would be an answer that nobody gave. */
export function yesNoControl(control: Control<YesNo>): TemplateResult {
  const { field, id, draft, strings, change } = control;
  if (field.required && field.initial === undefined) {
    return radios(control, [
      [true, strings.yes],
      [false, strings.no],
    ]);
  }
  return frame(control, { isNamed: true }, (describedBy) =>
    tick(control, { id, label: field.label, isTicked: draft === true, describedBy, change }),
  );
}

/** Radio buttons, or a list that opens where they are many. What need not be answered can be taken back. */
export function selectControl(control: Control<Select>): TemplateResult {
  const { choices, required } = control.field;
  if (choices.length > RADIOS_MAX) return list(control);
  const offered = choices.map(({ value, label }): [string, string] => [value, label]);
  return radios(control, required ? offered : [[undefined, control.strings.noAnswer], ...offered]);
}

/** Boxes in a group that says how many to tick. */
export function multiControl(control: Control<MultiSelect>): TemplateResult {
  const { field, draft, strings, change } = control;
  const chosen = Array.isArray(draft) ? (draft as readonly string[]) : [];
  const boxes = field.choices.map(({ value, label }) => {
    const others = chosen.filter((other) => other !== value);
    const isTicked = chosen.includes(value);
    return tick(control, {
      label,
      isTicked,
      change: (isOn) => change(isOn ? [...others, value] : others),
    });
  });
  return group(control, 'group', strings.hint(field), boxes);
}

function radios(
  control: Control<YesNo | Select>,
  offered: readonly (readonly [value: Draft, label: string])[],
): TemplateResult {
  const buttons = offered.map(([value, label]) =>
    tick(control, {
      name: control.id,
      label,
      isTicked: control.draft === value,
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

interface Tick {
  readonly id?: string;
  /** Of a radio button: shared with the others of its group. */
  readonly name?: string;
  readonly label: string;
  readonly isTicked: boolean;
  /** Not for one of a group, which is explained as a whole. */
  readonly describedBy?: string | typeof nothing;
  change(isTicked: boolean): void;
}

/** A radio button or a box, with its label. */
function tick({ error }: Control, tick: Tick): TemplateResult {
  return html`<label class="choice">
    <input
      type=${tick.name ? 'radio' : 'checkbox'}
      id=${tick.id ?? nothing}
      name=${tick.name ?? nothing}
      aria-invalid=${tick.name ? nothing : error !== undefined}
      aria-describedby=${tick.describedBy ?? nothing}
      ${current('checked', tick.isTicked)}
      @change=${(event: Event) => tick.change((event.target as HTMLInputElement).checked)}
    />
    ${words(tick.label)}
  </label>`;
}

function list(control: Control<Select>): TemplateResult {
  const { field, id, draft, strings, error } = control;
  // By place, because a value may be '' or hold what an attribute would change.
  const change = (event: Event) =>
    control.change(field.choices[(event.target as HTMLSelectElement).selectedIndex - 1]?.value);
  return frame(
    control,
    {},
    (describedBy) => html`<select
      class="entry"
      id=${id}
      autocomplete="off"
      aria-required=${field.required}
      aria-invalid=${error !== undefined}
      aria-describedby=${describedBy}
      @change=${change}
    >
      <option ${current('selected', draft === undefined)}>${field.required ? strings.choose : strings.noAnswer}</option>
      ${field.choices.map(
        ({ value, label }) =>
          html`<option dir="auto" ${current('selected', draft === value)}>${readableLine(label)}</option>`,
      )}
    </select>`,
  );
}
