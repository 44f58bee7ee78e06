import type { Content } from '@parley/shared/domain/elicitations/elicitation';
import type { FormSchema } from '@parley/shared/domain/forms/schema';
import type { FormField, FormValue } from '@parley/shared/domain/forms/value';
import type { Issue } from '@parley/shared/domain/issue';
import { readable } from '@parley/shared/domain/readable';
import { choicesOf } from './fields.ts';
import { FIELD_ACTION, fieldBlockId } from './names.ts';

/** What Slack reports of one input. */
export interface InputState {
  readonly value?: string | null;
  readonly selected_option?: { readonly value?: string } | null;
  readonly selected_options?: readonly { readonly value?: string }[] | null;
  readonly selected_date?: string | null;
  readonly selected_date_time?: number | null;
}

/** `view.state.values`. */
export type FormState = Readonly<Record<string, Readonly<Record<string, InputState>> | undefined>>;

/** The answer that a submitted modal holds. An input without a value is left out; the form decides whether it may be. */
export function contentOf(schema: FormSchema, state: FormState): Content {
  const content: Record<string, FormValue> = {};
  for (const [index, [name, field]] of Object.entries(schema.properties).entries()) {
    const value = answerOf(field, state[fieldBlockId(index)]?.[FIELD_ACTION] ?? {});
    if (value !== undefined) content[name] = value;
  }
  return content;
}

/** The answer of a button: the choice with this index of the form's only field. Undefined where there is no such choice. */
export function chosenContent(schema: FormSchema, index: number): Content | undefined {
  const [[name, field] = []] = Object.entries(schema.properties);
  const chosen = field && choicesOf(field)?.[index];
  if (name === undefined || chosen === undefined) return undefined;
  return { [name]: field?.type === 'boolean' ? chosen.const === 'true' : chosen.const };
}

/** What Slack shows below the inputs with these names. A fault of no input, or of the whole form, is shown at the first one. */
export function errorsOf(names: readonly string[], issues: readonly Issue[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of issues) {
    const index = names.findIndex((name) => path === name || path.startsWith(`${name}.`));
    const block = fieldBlockId(Math.max(0, index));
    errors[block] ??= readable(message);
  }
  return errors;
}

/** The value of one input; undefined without one. */
export function answerOf(field: FormField, state: InputState): FormValue | undefined {
  const choices = choicesOf(field);
  if (field.type === 'array') {
    const chosen = (state.selected_options ?? []).flatMap(
      ({ value }) => choices?.[Number(value)]?.const ?? [],
    );
    return chosen.length === 0 && (field.minItems ?? 0) === 0 && state.selected_options == null
      ? undefined
      : chosen;
  }
  if (choices !== undefined) {
    const chosen = choices[Number(state.selected_option?.value ?? Number.NaN)]?.const;
    return field.type === 'boolean' && chosen !== undefined ? chosen === 'true' : chosen;
  }
  if (state.selected_date != null) return state.selected_date;
  if (state.selected_date_time != null) return new Date(state.selected_date_time * 1000).toISOString();
  const { value } = state;
  if (value == null || value === '') return undefined;
  // A text that is no number is left as it is: the form refuses it with a text for people.
  return (field.type === 'number' || field.type === 'integer') &&
    value.trim() !== '' &&
    !Number.isNaN(Number(value))
    ? Number(value)
    : value;
}
