import { choicesOf, type Offering } from '@parley/shared/domain/forms/choices';
import { faultOfMatch } from '@parley/shared/domain/forms/pattern';
import type { FormSchema } from '@parley/shared/domain/forms/schema';
import { isTypedFraction, readTypedNumber } from '@parley/shared/domain/forms/typed-number';
import { checkValue, type FormField, type FormValue } from '@parley/shared/domain/forms/value';
import { controlName } from '../pages/answer/controls.ts';
import type { ControlFault } from '../pages/answer/strings.ts';

/** A posted form: the content to answer with, or what is wrong with it, by the name of the field. */
export type PostedForm =
  | { readonly ok: true; readonly content: Record<string, FormValue> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, ControlFault> };

/**
 * Reads the controls of the answer page by the rules of `/v1`. An empty control is an absent field. Choices are posted by
 * their position, because a browser changes line breaks in values.
 */
export function readPostedForm(schema: FormSchema, posted: URLSearchParams): PostedForm {
  const content: [string, FormValue][] = [];
  const faults = new Map<string, ControlFault>();
  for (const [at, [name, field]] of Object.entries(schema.properties).entries()) {
    const isRequired = schema.required?.includes(name) === true;
    const value = readControl(field, posted.getAll(controlName(at)), isRequired);
    if (value === undefined) {
      if (isRequired) faults.set(name, { rule: 'required' });
      continue;
    }
    const check = checkValue(field, value);
    if (check.ok && faultOfMatch(field, check.value) !== undefined) faults.set(name, { rule: 'pattern' });
    else if (check.ok) content.push([name, check.value]);
    else faults.set(name, isFraction(field, value) ? { rule: 'integer' } : check.fault);
  }
  // Unlike assignment, this creates an own property for any name.
  return faults.size > 0 ? { ok: false, faults } : { ok: true, content: Object.fromEntries(content) };
}

/** The value of a control, valid or not; undefined for an empty one. */
function readControl(field: FormField, posted: readonly string[], isRequired: boolean): unknown {
  const text = (posted[0] ?? '').replace(/\r\n?/g, '\n');
  switch (field.type) {
    case 'boolean':
      return text === '' ? undefined : text === 'true' || (text === 'false' ? false : text);
    case 'number':
    case 'integer':
      return readNumber(field.type, text.trim());
    case 'array':
      return posted.length === 0 && !isRequired ? undefined : posted.map((at) => chosen(field.items, at));
    default:
      if (text === '') return undefined;
      if ('enum' in field || 'oneOf' in field) return chosen(field, text);
      return field.format === undefined ? text : text.trim() || undefined;
  }
}

function readNumber(kind: 'number' | 'integer', text: string): unknown {
  return text === '' ? undefined : (readTypedNumber(kind, text) ?? text);
}

function isFraction({ type }: FormField, value: unknown): boolean {
  return type === 'integer' && typeof value === 'string' && isTypedFraction(value);
}

/** The choice at a position; null, which no field accepts, for another text. */
function chosen(field: Offering, at: string): string | null {
  return /^\d{1,4}$/.test(at) ? (choicesOf(field)[Number(at)]?.value ?? null) : null;
}
