import { choicesOf } from '@parley/shared/domain/forms/choices';
import type {
  FormField,
  MultiSelectField,
  SelectField,
  TitledSelectField,
} from '@parley/shared/domain/forms/value';
import { type Html, html } from '../html.ts';
import type { AnswerStrings, ControlFault } from './strings.ts';

/** A field as the page shows it. */
export interface ShownField {
  /** Position of the field in the form. */
  readonly at: number;
  readonly name: string;
  readonly schema: FormField;
  readonly isRequired: boolean;
  /** What was typed, or the positions of the choices. */
  readonly values: readonly string[];
  readonly fault?: ControlFault;
}

type ChoiceField = SelectField | TitledSelectField | MultiSelectField;

/** More choices than this are shown as a drop-down list. */
const RADIOS_MAX = 7;
/** A text that may have more characters gets several lines. */
const LINE_MAX = 200;

const TYPES: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

/** The name under which the control of a field posts its value. */
export function controlName(at: number): string {
  return `field-${at}`;
}

/** What a control contains before a person changes it. */
export function initialValues(schema: FormField): readonly string[] {
  const preset = schema.default;
  if (preset === undefined) return [];
  if (schema.type !== 'array' && !isSelect(schema)) return [String(preset)];
  const chosen = Array.isArray(preset) ? preset : [preset];
  const offered = choicesOf(schema.type === 'array' ? schema.items : schema);
  return offered.flatMap(({ value }, at) => (chosen.includes(value) ? [String(at)] : []));
}

/** A field's control, with its label, description, hint and fault. */
export function controlOf(field: ShownField, strings: AnswerStrings): Html {
  const { schema } = field;
  if (schema.type === 'boolean')
    return radios(field, strings, [
      ['true', strings.yes],
      ['false', strings.no],
    ]);
  if (schema.type === 'array') return boxes(field, schema, strings);
  if (!isSelect(schema)) return typed(field, strings);
  const offered = choicesOf(schema).map(({ label }, at) => [String(at), label] as const);
  return offered.length > RADIOS_MAX ? list(field, strings, offered) : radios(field, strings, offered);
}

type Offered = readonly (readonly [value: string, label: string])[];

function radios(field: ShownField, strings: AnswerStrings, offered: Offered): Html {
  const all = field.isRequired ? offered : [['', strings.noAnswer] as const, ...offered];
  const chosen = field.values[0] ?? (field.isRequired ? undefined : '');
  const inputs = all.map(
    ([value, label]) =>
      html`<label class="choice"><input type="radio" name="${controlName(field.at)}" value="${value}"${
        value === chosen ? html` checked` : undefined
      }${field.isRequired ? html` required` : undefined}> <bdi>${label}</bdi></label>`,
  );
  return group(field, strings, inputs);
}

function boxes(field: ShownField, schema: MultiSelectField, strings: AnswerStrings): Html {
  const inputs = choicesOf(schema.items).map(
    ({ label }, at) =>
      html`<label class="choice"><input type="checkbox" name="${controlName(field.at)}" value="${at}"${
        field.values.includes(String(at)) ? html` checked` : undefined
      }> <bdi>${label}</bdi></label>`,
  );
  return group(field, strings, inputs);
}

/** Several inputs under one name. */
function group(field: ShownField, strings: AnswerStrings, inputs: readonly Html[]): Html {
  const { texts, describedBy } = describe(field, strings);
  return html`<fieldset class="field"${describedBy}><legend>${nameOf(field, strings)}</legend>
${texts}<div class="choices">${inputs}</div></fieldset>
`;
}

function list(field: ShownField, strings: AnswerStrings, offered: Offered): Html {
  const first = field.isRequired ? strings.choose : strings.noAnswer;
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
  const { schema, values } = field;
  const text = values[0] ?? '';
  if (schema.type === 'number' || schema.type === 'integer')
    return labelled(
      field,
      strings,
      (rest) => html`<input type="text" dir="ltr" inputmode="${numericKeys(schema)}" value="${text}"${rest}>`,
    );
  const format = schema.type === 'string' && 'format' in schema ? schema.format : undefined;
  if (format === undefined && isLong(schema, text))
    return labelled(
      field,
      strings,
      (rest) => html`<textarea rows="4" dir="auto"${rest}>\n${text}</textarea>`,
    );
  const direction = format === undefined ? 'auto' : 'ltr';
  return labelled(
    field,
    strings,
    (rest) => html`<input type="${TYPES[format ?? ''] ?? 'text'}" dir="${direction}" value="${text}"${rest}>`,
  );
}

/** One control and its label. `render` gets the attributes that every control has. */
function labelled(field: ShownField, strings: AnswerStrings, render: (attributes: Html) => Html): Html {
  const { texts, describedBy } = describe(field, strings);
  const id = controlName(field.at);
  const attributes = html` id="${id}" name="${id}" autocomplete="off"${field.isRequired ? html` required` : undefined}${describedBy}${
    field.fault === undefined ? undefined : html` aria-invalid="true"`
  }`;
  return html`<div class="field"><label for="${id}">${nameOf(field, strings)}</label>
${texts}${render(attributes)}</div>
`;
}

function nameOf({ name, schema, isRequired }: ShownField, { requiredMark }: AnswerStrings): Html {
  const mark = isRequired ? html` <span class="quiet">(${requiredMark})</span>` : undefined;
  return html`<bdi>${schema.title || name}</bdi>${mark}`;
}

/** The texts about a field, and the attribute that refers to them. */
function describe({ at, schema, fault }: ShownField, strings: AnswerStrings) {
  const id = controlName(at);
  const parts = [
    ['fault', fault && strings.fault(fault), 'fault'],
    ['help', schema.description || undefined, 'help'],
    ['hint', strings.hint(schema), 'help'],
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

function isSelect(schema: FormField): schema is Exclude<ChoiceField, MultiSelectField> {
  return schema.type === 'string' && ('enum' in schema || 'oneOf' in schema);
}

/** Some numeric keyboards have no minus, others no decimal point. */
function numericKeys(schema: FormField): string {
  return schema.type === 'integer' && (schema.minimum ?? -1) >= 0 ? 'numeric' : 'text';
}

function isLong(schema: FormField, text: string): boolean {
  if (schema.type !== 'string' || !('minLength' in schema || 'maxLength' in schema))
    return text.includes('\n');
  return Math.max(schema.minLength ?? 0, schema.maxLength ?? 0) > LINE_MAX || text.includes('\n');
}
