/** Draws the controls of a form on the answer page. Reading what was posted is in `pages/answer/posted-form.ts`. */

import type { FormControl } from '@parley/core/domain/forms/controls';
import { type Html, html } from '../../kit/html.ts';
import type { ControlFault } from './strings.ts';
import type { AnswerStrings } from './strings-en.ts';

/** A field as the page shows it. */
export interface ShownField {
  /** Position of the field in the form. */
  readonly at: number;
  readonly control: FormControl;
  /** The typed text, or the positions of the choices. */
  readonly values: readonly string[];
  readonly fault?: ControlFault;
}

/** If there are more choices than this, they are shown as a drop-down list. */
const RADIOS_MAX = 7;

const TYPES: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

/** The name under which a field's control posts its value. */
export function controlName(at: number): string {
  return `field-${at}`;
}

/** The values of a control before the person changes them. */
export function initialValues({ kind, initial, choices }: FormControl): readonly string[] {
  if (initial === undefined) return [];
  if (kind !== 'multi' && kind !== 'select') return [String(initial)];
  const chosen = [initial].flat();
  return choices.flatMap(({ value }, at) => (chosen.includes(value) ? [String(at)] : []));
}

/** The control of a field, with its label, description, hint and fault. */
export function controlOf(field: ShownField, strings: AnswerStrings): Html {
  const { kind, choices } = field.control;
  const offered = choices.map(({ label }, at) => [String(at), label] as const);
  switch (kind) {
    case 'boolean':
      return radios(field, strings, [
        ['true', strings.yes],
        ['false', strings.no],
      ]);
    case 'multi':
      return boxes(field, strings, offered);
    case 'select':
      return offered.length > RADIOS_MAX ? list(field, strings, offered) : radios(field, strings, offered);
    default:
      return typed(field, strings);
  }
}

type Offered = readonly (readonly [value: string, label: string])[];

function radios(field: ShownField, strings: AnswerStrings, offered: Offered): Html {
  const { isRequired } = field.control;
  const all = isRequired ? offered : [['', strings.noAnswer] as const, ...offered];
  const chosen = field.values[0] ?? (isRequired ? undefined : '');
  const inputs = all.map(
    ([value, label]) =>
      html`<label class="choice"><input type="radio" name="${controlName(field.at)}" value="${value}"${
        value === chosen ? html` checked` : undefined
      }${isRequired ? html` required` : undefined}> <bdi>${label}</bdi></label>`,
  );
  return group(field, strings, inputs);
}

function boxes(field: ShownField, strings: AnswerStrings, offered: Offered): Html {
  const inputs = offered.map(
    ([value, label]) =>
      html`<label class="choice"><input type="checkbox" name="${controlName(field.at)}" value="${value}"${
        field.values.includes(value) ? html` checked` : undefined
      }> <bdi>${label}</bdi></label>`,
  );
  return group(field, strings, inputs);
}

/** Several inputs with one name. */
function group(field: ShownField, strings: AnswerStrings, inputs: readonly Html[]): Html {
  const { texts, describedBy } = describe(field, strings);
  return html`<fieldset class="field"${describedBy}><legend>${nameOf(field, strings)}</legend>
${texts}<div class="choices">${inputs}</div></fieldset>
`;
}

function list(field: ShownField, strings: AnswerStrings, offered: Offered): Html {
  const first = field.control.isRequired ? strings.choose : strings.noAnswer;
  return labelled(
    field,
    strings,
    (attributes) =>
      html`<select${attributes}><option value="">${first}</option>${offered.map(
        ([value, label]) =>
          html`<option value="${value}"${field.values[0] === value ? html` selected` : undefined}>${label}</option>`,
      )}</select>`,
  );
}

function typed(field: ShownField, strings: AnswerStrings): Html {
  const { control, values } = field;
  const { kind } = control;
  const text = values[0] ?? '';
  if (kind === 'number' || kind === 'integer')
    return labelled(
      field,
      strings,
      (rest) =>
        html`<input type="text" dir="ltr" inputmode="${numericKeys(control)}" value="${text}"${rest}>`,
    );
  // A single-line control would drop the line breaks of the earlier text.
  if (kind === 'text' && (control.hasLines || text.includes('\n')))
    return labelled(
      field,
      strings,
      (rest) => html`<textarea rows="4" dir="auto"${rest}>\n${text}</textarea>`,
    );
  const direction = kind === 'text' ? 'auto' : 'ltr';
  return labelled(
    field,
    strings,
    (rest) => html`<input type="${TYPES[kind] ?? 'text'}" dir="${direction}" value="${text}"${rest}>`,
  );
}

/** One control and its label. `render` gets the attributes that every control has. */
function labelled(field: ShownField, strings: AnswerStrings, render: (attributes: Html) => Html): Html {
  const { texts, describedBy } = describe(field, strings);
  const id = controlName(field.at);
  const { isRequired, initial } = field.control;
  // A browser would not post a default that is an empty text.
  const attributes = html` id="${id}" name="${id}" autocomplete="off"${isRequired && initial !== '' ? html` required` : undefined}${describedBy}${
    field.fault === undefined ? undefined : html` aria-invalid="true"`
  }`;
  return html`<div class="field"><label for="${id}">${nameOf(field, strings)}</label>
${texts}${render(attributes)}</div>
`;
}

function nameOf({ control }: ShownField, { requiredMark }: AnswerStrings): Html {
  const suffix = control.isRequired ? html` <span class="quiet">(${requiredMark})</span>` : undefined;
  return html`<bdi>${control.label}</bdi>${suffix}`;
}

/** The texts about a field, and the attribute that refers to them. */
function describe({ at, control, fault }: ShownField, strings: AnswerStrings) {
  const id = controlName(at);
  const parts = [
    ['fault', fault && strings.fault(fault), 'fault'],
    ['help', control.description, 'help'],
    ['hint', strings.hint(control), 'help'],
  ] as const;
  const shown = parts.filter(([, text]) => text !== undefined);
  return {
    texts: html`${shown.map(([part, text, style]) => html`<p class="${style}" id="${id}-${part}"><bdi>${text}</bdi></p>\n`)}`,
    describedBy:
      shown.length === 0
        ? undefined
        : html` aria-describedby="${shown.map(([part]) => `${id}-${part}`).join(' ')}"`,
  };
}

/** Some numeric keyboards have no minus sign, others no decimal point. */
function numericKeys({ kind, least = -1 }: FormControl): string {
  return kind === 'integer' && least >= 0 ? 'numeric' : 'text';
}
