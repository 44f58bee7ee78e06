/**
 * Asks for the fields of a form, one prompt after another. The rules for values are in `clients/core`, and the prompts
 * themselves in the screens.
 */

import { type ControlKind, controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { textOfFault } from '@parley/core/domain/forms/fault';
import { hintOf } from '@parley/core/domain/forms/hint';
import { faultOfMatch } from '@parley/core/domain/forms/pattern';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { readTypedNumber } from '@parley/core/domain/forms/typed-number';
import { checkValue, type FormValue } from '@parley/core/domain/forms/value';
import { readable } from '@parley/core/domain/readable';
import { type AnswerFault, isSkippedOther } from '@parley/sdk/elicit';
import { LEFT, type Left, type Screen, type ScreenOption } from './screen.ts';

const NO_ANSWER: ScreenOption<undefined> = { value: undefined, label: 'No answer' };
const YES_NO: readonly ScreenOption<boolean>[] = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
];
/** What to type into a field with a format. */
const FORMAT_HINTS: { readonly [kind in ControlKind]?: string } = {
  date: 'YYYY-MM-DD',
  'date-time': 'such as 2026-03-01T09:30:00Z',
  email: 'an email address',
  uri: 'an address',
};
/** The hint for a default that is not shown. */
const KEPT_HINT = 'it has a default, which is sent if you type nothing';

export type TerminalContent = Record<string, FormValue>;

interface FieldsOptions {
  readonly schema: FormSchema;
  /** Earlier input, shown as presets. */
  readonly earlier?: Readonly<TerminalContent>;
  /** What is wrong with the earlier input. */
  readonly faults: readonly AnswerFault[];
  /** True: typed text is never shown, and choices are hidden once made. */
  readonly sensitive?: boolean;
  /** The remaining time, shown after the labels; empty for none. */
  readonly countdown: () => string;
  readonly signal: AbortSignal;
}

/** Asks for each field of a form in turn. An optional field that stays empty is absent from the content. */
export async function askFields(screen: Screen, options: FieldsOptions): Promise<TerminalContent | Left> {
  const { schema, earlier = {}, faults, signal } = options;
  const content: TerminalContent = {};
  for (const control of controlsOf(schema)) {
    const { name, label } = control;
    if (isSkippedOther(schema, name, content)) continue;
    const fault = faults.find(({ path }) => path === name)?.message;
    if (fault !== undefined) screen.say(`${label}: ${readable(fault)}`);
    const entered = options.sensitive === true ? undefined : earlier[name];
    const value = await askField(screen, { ...options, control, preset: entered ?? control.initial });
    if (value === LEFT || signal.aborted) return LEFT;
    if (value !== undefined) content[name] = value;
  }
  return content;
}

interface OneField extends FieldsOptions {
  readonly control: FormControl;
  readonly preset: FormValue | undefined;
}

/** The value of one field; undefined when an optional field stays empty. */
async function askField(screen: Screen, one: OneField): Promise<FormValue | undefined | Left> {
  const { control, preset, signal, sensitive: isSensitive = false } = one;
  const { kind, isRequired, choices, hasLines } = control;
  const texts = textsOf(one);
  if (kind === 'multi') {
    const initial = Array.isArray(preset) ? preset : [];
    const options = choices;
    const validate = (value: readonly string[]) =>
      value.length === 0 && !isRequired ? undefined : faultOf(control, [...value]);
    const chosen = await screen.multiSelect({ ...texts, options, initial, validate, isSensitive }, signal);
    if (chosen === LEFT) return LEFT;
    return chosen.length === 0 && !isRequired ? undefined : [...chosen];
  }
  if (kind === 'select' || kind === 'boolean') {
    const offered: readonly ScreenOption<FormValue | undefined>[] = kind === 'select' ? choices : YES_NO;
    const options = isRequired ? offered : [...offered, NO_ANSWER];
    return screen.select({ ...texts, options, initial: preset, isSensitive }, signal);
  }
  const initial = preset === undefined ? undefined : String(preset);
  const readText = (text: string) => {
    if (text === initial) return preset;
    return text === '' ? undefined : typedValue(control, text);
  };
  const validate = (text: string) => {
    const value = readText(text);
    if (value !== undefined) return faultOf(control, value);
    return isRequired ? textOfFault({ rule: 'required' }) : undefined;
  };
  const read = isSensitive ? screen.hidden : screen.text;
  const description = isSensitive && initial ? withHint(texts.description, KEPT_HINT) : texts.description;
  const text = await read(
    { ...texts, description, takesLines: kind === 'text', hasLines, initial, validate },
    signal,
  );
  if (text === LEFT) return LEFT;
  return readText(text);
}

function textsOf({ control, countdown }: OneField) {
  const { label, isRequired, kind, description } = control;
  const hint = hintOf(control) ?? FORMAT_HINTS[kind];
  return {
    label: `${label}${isRequired ? '' : ' (optional)'}`,
    countdown,
    description: withHint(description, hint),
  };
}

function withHint(description: string | undefined, hint: string | undefined): string | undefined {
  return description === undefined || hint === undefined ? (description ?? hint) : `${description} (${hint})`;
}

function typedValue({ kind }: FormControl, text: string): FormValue {
  if (kind !== 'number' && kind !== 'integer') return text;
  // Text that is no number is returned unchanged, and the field's check refuses it.
  return readTypedNumber(kind, text.trim()) ?? text;
}

function faultOf({ schema: field }: FormControl, value: FormValue): string | undefined {
  const check = checkValue(field, value);
  return check.ok ? faultOfMatch(field, check.value) : textOfFault(check.fault);
}
