import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { faultOfMatch } from '@parley/core/domain/forms/pattern';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import { isTypedFraction, readTypedNumber } from '@parley/core/domain/forms/typed-number';
import { checkValue, type FormValue } from '@parley/core/domain/forms/value';
import { readable } from '@parley/core/domain/readable';
import { plainBreaks } from '@parley/core/domain/text';
import { controlName, initialValues } from '../views/answer/controls.ts';
import type { ControlFault } from '../views/answer/strings.ts';

/** A posted form: the content of the answer, or the faults by the name of the field. */
type PostedForm =
  | { readonly ok: true; readonly content: Record<string, FormValue> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, ControlFault> };

/**
 * Reads the controls of the answer page by the rules of `/v1`. An empty control means an absent field. Choices are posted by
 * their position, because browsers change line breaks in values.
 */
export function readPostedForm(schema: FormSchema, posted: URLSearchParams): PostedForm {
  const content: [string, FormValue][] = [];
  const faults = new Map<string, ControlFault>();
  for (const [at, control] of controlsOf(schema).entries()) {
    const { name, isRequired, schema: field } = control;
    const values = posted.getAll(controlName(at)).map(plainBreaks);
    const value = isUntouched(control, values) ? control.initial : readControl(control, values);
    if (value === undefined) {
      if (isRequired) faults.set(name, { rule: 'required' });
      continue;
    }
    const check = checkValue(field, value);
    if (check.ok && faultOfMatch(field, check.value) !== undefined) faults.set(name, { rule: 'pattern' });
    else if (check.ok) content.push([name, check.value]);
    else faults.set(name, isFraction(control, value) ? { rule: 'integer' } : check.fault);
  }
  // Unlike assignment, this creates an own property for every name.
  return faults.size > 0 ? { ok: false, faults } : { ok: true, content: Object.fromEntries(content) };
}

/**
 * True if a control posts the value with which it was drawn. The comparison allows for pages that show invisible characters as
 * signs, and for browsers that change line breaks.
 */
function isUntouched(control: FormControl, posted: readonly string[]): boolean {
  if (control.initial === undefined) return false;
  const drawn = initialValues(control).map((value) => readable(plainBreaks(value)));
  return drawn.length === posted.length && drawn.every((value, at) => value === posted[at]);
}

/** The value of a control, valid or not; undefined for an empty one. */
function readControl(control: FormControl, posted: readonly string[]): unknown {
  const { kind, isRequired } = control;
  const text = posted[0] ?? '';
  switch (kind) {
    case 'boolean':
      return text === '' ? undefined : text === 'true' || (text === 'false' ? false : text);
    case 'number':
    case 'integer':
      return readNumber(kind, text.trim());
    case 'multi':
      return posted.length === 0 && !isRequired ? undefined : posted.map((at) => chosen(control, at));
    case 'select':
      return text === '' ? undefined : chosen(control, text);
    case 'text':
      return text || undefined;
    default:
      return text.trim() || undefined;
  }
}

function readNumber(kind: 'number' | 'integer', text: string): unknown {
  return text === '' ? undefined : (readTypedNumber(kind, text) ?? text);
}

function isFraction({ kind }: FormControl, value: unknown): boolean {
  return kind === 'integer' && typeof value === 'string' && isTypedFraction(value);
}

/** The choice at a position. For any other text null, which no field accepts. */
function chosen({ choices }: FormControl, at: string): string | null {
  return /^\d{1,4}$/.test(at) ? (choices[Number(at)]?.value ?? null) : null;
}
