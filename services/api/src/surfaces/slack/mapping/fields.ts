import {
  type FormField,
  type FormOption,
  type MultiSelectField,
  valuesOf,
} from '@parley/shared/domain/forms/value';
import { readable } from '@parley/shared/domain/readable';
import type { InputBlock, PlainTextElement, PlainTextOption } from '@slack/types';
import { FIELD_ACTION, fieldBlockId } from './names.ts';
import { clipped, lineText } from './text.ts';

const OPTION_TEXT_MAX = 75;
const LABEL_MAX = 2_000;
const TEXT_MAX = 3_000;
const RADIO_MAX = 10;
/** A select offers at most so many choices. */
const OPTIONS_MAX = 100;
/** A longer text gets more than one line. */
const ONE_LINE_MAX = 150;

type TextualField = Exclude<FormField, { type: 'number' | 'integer' | 'boolean' }>;

/** True when Slack has an input for every value of the field. */
export function isShowable(field: FormField): boolean {
  const choices = choicesOf(field);
  if (choices !== undefined) return choices.length <= OPTIONS_MAX && areDistinct(choices);
  if (field.type !== 'string') return true;
  return (
    ('minLength' in field ? (field.minLength ?? 0) : 0) <= TEXT_MAX && presetOf(field).length <= TEXT_MAX
  );
}

/** The choices of a select, a multi select or a boolean; undefined for other fields. */
export function choicesOf(field: FormField): readonly FormOption[] | undefined {
  if (field.type === 'boolean') return [choice('true', 'Yes'), choice('false', 'No')];
  if (field.type === 'array') {
    const { items } = field;
    return 'enum' in items ? items.enum.map((value) => choice(value, value)) : items.anyOf;
  }
  if (field.type !== 'string') return undefined;
  if ('oneOf' in field) return field.oneOf;
  if ('enum' in field)
    return field.enum.map((value, index) => choice(value, field.enumNames?.[index] ?? value));
  return undefined;
}

/** One field as an input of a modal. */
export function inputOf(name: string, field: FormField, index: number, isRequired: boolean): InputBlock {
  return {
    type: 'input',
    block_id: fieldBlockId(index),
    label: plain(lineText(field.title || name, LABEL_MAX)),
    ...(field.description && { hint: plain(clipped(readable(field.description), LABEL_MAX)) }),
    optional: !isRequired,
    element: elementOf(field),
  };
}

export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

function elementOf(field: FormField): InputBlock['element'] {
  const action_id = FIELD_ACTION;
  if (field.type === 'array') return multiSelect(field);
  const options = choicesOf(field)?.map(optionOf);
  if (options !== undefined) return { ...oneOf(options, initialOption(field, options)), action_id };
  if (field.type === 'number' || field.type === 'integer') {
    const { minimum, maximum } = field;
    return {
      type: 'number_input',
      action_id,
      is_decimal_allowed: field.type === 'number',
      ...(minimum !== undefined && { min_value: String(minimum) }),
      ...(maximum !== undefined && { max_value: String(maximum) }),
      ...(field.default !== undefined && { initial_value: String(field.default) }),
    };
  }
  return { ...textElement(field as TextualField & { type: 'string' }), action_id };
}

function textElement(field: TextualField & { type: 'string' }): InputBlock['element'] {
  const format = 'format' in field ? field.format : undefined;
  const initial = presetOf(field);
  const preset = initial === '' ? {} : { initial_value: initial };
  switch (format) {
    case 'email':
      return { type: 'email_text_input', ...preset };
    case 'uri':
      return { type: 'url_text_input', ...preset };
    case 'date':
      return { type: 'datepicker', ...(initial !== '' && { initial_date: initial }) };
    case 'date-time':
      return {
        type: 'datetimepicker',
        ...(initial !== '' && { initial_date_time: Math.floor(Date.parse(initial) / 1000) }),
      };
    default: {
      const least = 'minLength' in field ? (field.minLength ?? 0) : 0;
      const most = 'maxLength' in field ? (field.maxLength ?? TEXT_MAX) : TEXT_MAX;
      return {
        type: 'plain_text_input',
        multiline: most > ONE_LINE_MAX,
        // A schema counts code points.
        max_length: Math.max(1, initial.length, Math.min(most, TEXT_MAX)),
        ...(least > 0 && { min_length: least }),
        ...preset,
      };
    }
  }
}

function oneOf(options: PlainTextOption[], initial: PlainTextOption | undefined): InputBlock['element'] {
  const preset = initial === undefined ? {} : { initial_option: initial };
  return options.length <= RADIO_MAX
    ? { type: 'radio_buttons', options, ...preset }
    : { type: 'static_select', options, ...preset };
}

function multiSelect(field: MultiSelectField): InputBlock['element'] {
  const options = (choicesOf(field) ?? []).map(optionOf);
  const values = valuesOf(field.items);
  const initial = options.filter((_, index) => field.default?.includes(values[index] ?? '') === true);
  const preset = initial.length === 0 ? {} : { initial_options: initial };
  if (options.length <= RADIO_MAX) return { type: 'checkboxes', action_id: FIELD_ACTION, options, ...preset };
  const { maxItems } = field;
  return {
    type: 'multi_static_select',
    action_id: FIELD_ACTION,
    options,
    ...preset,
    ...(maxItems !== undefined && maxItems > 0 && { max_selected_items: maxItems }),
  };
}

/** The value of an option is its index: values of a schema may be longer than Slack takes. */
function optionOf({ title }: FormOption, index: number): PlainTextOption {
  return { text: plain(lineText(title, OPTION_TEXT_MAX)), value: String(index) };
}

function initialOption(field: FormField, options: readonly PlainTextOption[]): PlainTextOption | undefined {
  if (field.default === undefined) return undefined;
  const index = (choicesOf(field) ?? []).findIndex((one) => one.const === String(field.default));
  return options[index];
}

function presetOf(field: FormField): string {
  return field.type === 'string' ? (field.default ?? '') : '';
}

/** Choices that are shown alike could not be told apart. */
function areDistinct(choices: readonly FormOption[]): boolean {
  return new Set(choices.map(({ title }) => lineText(title, OPTION_TEXT_MAX))).size === choices.length;
}

function choice(value: string, title: string): FormOption {
  return { const: value, title };
}
