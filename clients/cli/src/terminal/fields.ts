import { type AnswerFault, isSkippedOther } from '@parley/sdk/elicit';
import { textOfFault } from '@parley/shared/domain/forms/fault';
import { faultOfMatch } from '@parley/shared/domain/forms/pattern';
import type { FormSchema } from '@parley/shared/domain/forms/schema';
import { readTypedNumber } from '@parley/shared/domain/forms/typed-number';
import { checkValue, type FormField, type FormValue, valuesOf } from '@parley/shared/domain/forms/value';
import { readable, readableLine } from '@parley/shared/domain/readable';
import { LEFT, type Left, type Screen, type ScreenOption } from './screen.ts';

export type TerminalContent = Record<string, FormValue>;

export interface FieldsOptions {
  readonly schema: FormSchema;
  /** What was entered before; shown as the preset. */
  readonly earlier?: Readonly<TerminalContent>;
  /** What is wrong with what was entered before. */
  readonly faults: readonly AnswerFault[];
  /** Nothing that is typed is shown, nor, afterwards, what was picked. */
  readonly sensitive?: boolean;
  /** The remaining time, for the labels. */
  readonly countdown: () => string;
  readonly signal: AbortSignal;
}

/** Asks for each field of a form in turn. An optional field that stays empty is absent from the content. */
export async function askFields(screen: Screen, options: FieldsOptions): Promise<TerminalContent | Left> {
  const { schema, earlier = {}, faults, signal } = options;
  const content: TerminalContent = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    if (isSkippedOther(schema, name, content)) continue;
    const fault = faults.find(({ path }) => path === name)?.message;
    if (fault !== undefined) screen.say(`${labelOf(name, field)}: ${readable(fault)}`);
    const isRequired = schema.required?.includes(name) ?? false;
    const entered = options.sensitive === true ? undefined : earlier[name];
    const preset = { ...field, ...(entered !== undefined && { default: entered }) } as FormField;
    const value = await askField(screen, { ...options, name, field: preset, isRequired });
    if (value === LEFT || signal.aborted) return LEFT;
    if (value !== undefined) content[name] = value;
  }
  // Faults of the form as a whole, or of fields that it does not have.
  return content;
}

interface OneField extends FieldsOptions {
  readonly name: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

/** The value of one field; nothing when an optional one stays empty. */
async function askField(screen: Screen, one: OneField): Promise<FormValue | undefined | Left> {
  const { field, isRequired, signal, sensitive: isSensitive = false } = one;
  const texts = textsOf(one);
  if (field.type === 'array') {
    const initial = field.default ?? [];
    const options = optionsOfItems(field);
    const validate = (value: readonly string[]) =>
      value.length === 0 && !isRequired ? undefined : faultOf(field, [...value]);
    const chosen = await screen.multiSelect({ ...texts, options, initial, validate, isSensitive }, signal);
    if (chosen === LEFT) return LEFT;
    return chosen.length === 0 && !isRequired ? undefined : [...chosen];
  }
  const choices = choicesOf(field);
  if (choices !== undefined) {
    const none: ScreenOption<FormValue | undefined>[] = isRequired
      ? []
      : [{ value: undefined, label: 'No answer' }];
    const options = [...choices, ...none];
    return screen.select({ ...texts, options, initial: field.default, isSensitive }, signal);
  }
  const initial = field.default === undefined ? undefined : String(field.default);
  const validate = (text: string) =>
    text === '' && !isRequired ? undefined : faultOf(field, typedValue(field, text));
  const read = isSensitive ? screen.hidden : screen.text;
  const text = await read({ ...texts, initial, validate }, signal);
  if (text === LEFT) return LEFT;
  return text === '' && !isRequired ? undefined : typedValue(field, text);
}

/** A getter, so that the time is counted down in a prompt that is drawn again. */
function textsOf({ name, field, isRequired, countdown }: OneField) {
  const description = field.description === undefined ? hintOf(field) : readable(field.description);
  return {
    get label() {
      return `${labelOf(name, field)}${isRequired ? '' : ' (optional)'}${countdown()}`;
    },
    description,
  };
}

function labelOf(name: string, field: FormField): string {
  return readableLine(field.title ?? name);
}

function hintOf(field: FormField): string | undefined {
  if (field.type === 'number' || field.type === 'integer') {
    const { minimum, maximum } = field;
    if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
    if (minimum !== undefined) return `${minimum} or more`;
    return maximum === undefined ? undefined : `${maximum} or less`;
  }
  if (field.type === 'string' && 'format' in field) {
    const hints = {
      date: 'YYYY-MM-DD',
      'date-time': 'such as 2026-03-01T09:30:00Z',
      email: 'an email address',
      uri: 'an address',
    };
    return field.format === undefined ? undefined : hints[field.format];
  }
  return undefined;
}

function typedValue(field: FormField, text: string): FormValue {
  if (field.type !== 'number' && field.type !== 'integer') return text;
  // What is no number is refused by the check of the field.
  return readTypedNumber(field.type, text.trim()) ?? text;
}

function faultOf(field: FormField, value: FormValue): string | undefined {
  const check = checkValue(field, value);
  return check.ok ? faultOfMatch(field, check.value) : textOfFault(check.fault);
}

function choicesOf(field: FormField): readonly ScreenOption<FormValue | undefined>[] | undefined {
  if (field.type === 'boolean') {
    return [
      { value: true, label: 'Yes' },
      { value: false, label: 'No' },
    ];
  }
  if (field.type !== 'string') return undefined;
  if ('enum' in field) {
    return field.enum.map((value, at) => ({ value, label: readableLine(field.enumNames?.[at] ?? value) }));
  }
  if (!('oneOf' in field)) return undefined;
  return field.oneOf.map((option) => ({ value: option.const, label: readableLine(option.title) }));
}

function optionsOfItems({ items }: Extract<FormField, { type: 'array' }>): readonly ScreenOption<string>[] {
  if ('anyOf' in items)
    return items.anyOf.map((one) => ({ value: one.const, label: readableLine(one.title) }));
  return valuesOf(items).map((value) => ({ value, label: readableLine(value) }));
}
