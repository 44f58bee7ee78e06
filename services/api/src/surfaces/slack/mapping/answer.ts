import type { Content } from '@parley/core/domain/elicitations/elicitation';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { readTypedNumber } from '@parley/core/domain/forms/typed-number';
import type { FormValue } from '@parley/core/domain/forms/value';
import type { Issue } from '@parley/core/domain/issue';
import { readable } from '@parley/core/domain/readable';
import { plainBreaks } from '@parley/core/domain/text';
import { choicesIn } from './fields.ts';
import { slackSeconds } from './limits.ts';
import { FIELD_ACTION, fieldBlockId } from './names.ts';

/** Slack's report about one input. */
export interface InputState {
  readonly value?: string | null;
  readonly selected_option?: { readonly value?: string } | null;
  readonly selected_options?: readonly { readonly value?: string }[] | null;
  readonly selected_date?: string | null;
  readonly selected_date_time?: number | null;
}

/** `view.state.values`. */
export type FormState = Readonly<Record<string, Readonly<Record<string, InputState>> | undefined>>;

/** The answer in a submitted modal. Inputs without a value are omitted, and the form decides whether that is valid. */
export function contentOf(schema: FormSchema, state: FormState): Content {
  const content: Record<string, FormValue> = {};
  for (const [index, control] of controlsOf(schema).entries()) {
    const value = answerOf(control, state[fieldBlockId(index)]?.[FIELD_ACTION] ?? {});
    if (value !== undefined) content[control.name] = value;
  }
  return content;
}

/**
 * The answer that a button gives: the choice with this index in the form's only field. Undefined if there is no such choice.
 */
export function chosenContent(schema: FormSchema, index: number): Content | undefined {
  const [control] = controlsOf(schema);
  const value = control && answerOf(control, { selected_option: { value: String(index) } });
  return control === undefined || value === undefined ? undefined : { [control.name]: value };
}

/**
 * The errors that Slack shows below the inputs with these names. An error of another input or of the whole form is shown at the
 * first input.
 */
export function errorsOf(names: readonly string[], issues: readonly Issue[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of issues) {
    const index = names.findIndex((name) => path === name || path.startsWith(`${name}.`));
    const block = fieldBlockId(Math.max(0, index));
    errors[block] ??= readable(message);
  }
  return errors;
}

/** The value of one input; undefined if it has none. An optional list without a choice is omitted. */
export function answerOf(control: FormControl, state: InputState): FormValue | undefined {
  const { kind, isRequired, initial } = control;
  const choiceAt = (at: string | undefined) => choicesIn(control)[Number(at ?? Number.NaN)]?.value;
  switch (kind) {
    case 'multi': {
      const chosen = (state.selected_options ?? []).flatMap(({ value }) => choiceAt(value) ?? []);
      return chosen.length === 0 && !isRequired ? undefined : chosen;
    }
    case 'select':
      return choiceAt(state.selected_option?.value);
    case 'boolean': {
      const chosen = choiceAt(state.selected_option?.value);
      return chosen === undefined ? undefined : chosen === 'true';
    }
    case 'date':
      return state.selected_date ?? undefined;
    case 'date-time': {
      const seconds = state.selected_date_time;
      if (seconds == null) return undefined;
      // An unchanged default keeps its offset and fractions of a second.
      if (typeof initial === 'string' && slackSeconds(initial) === seconds) return initial;
      return new Date(seconds * 1_000).toISOString();
    }
    default:
      return typedOf(control, state.value ?? '');
  }
}

function typedOf({ kind, initial }: FormControl, text: string): FormValue | undefined {
  // An unchanged default is answered unchanged, even if its line breaks changed in transit.
  if (typeof initial === 'string' && plainBreaks(text) === plainBreaks(initial)) return initial;
  if (text === '') return undefined;
  // Text that is not a number stays text, so that the form refuses it with a message for people.
  return kind === 'number' || kind === 'integer' ? (readTypedNumber(kind, text.trim()) ?? text) : text;
}
