import type { Fault } from '@parley/shared/domain/forms/fault';
import { isTypedFraction, readTypedNumber } from '@parley/shared/domain/forms/typed-number';
import { checkValue, type FormValue } from '@parley/shared/domain/forms/value';
import type { Draft, Field } from './fields.ts';
import { offsetTimeOf } from './local-time.ts';

/** Why a field cannot be sent. `comma`: a number with a comma, which is ambiguous. */
export type FieldFault = Fault | { readonly rule: 'comma' };

/** The content to send, or the faults by field name, in the order of the fields. */
export type FormReading =
  | { readonly ok: true; readonly content: Record<string, FormValue> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, FieldFault> };

/**
 * Reads the values of the controls by the rules of the server. A missing draft stands for the field's `initial`. An empty
 * optional field is omitted, even if it had a default that was cleared.
 */
export function readDrafts(fields: readonly Field[], drafts: ReadonlyMap<string, Draft>): FormReading {
  const content: [string, FormValue][] = [];
  const faults = new Map<string, FieldFault>();
  for (const field of fields) {
    const value = valueFrom(field, drafts.has(field.name) ? drafts.get(field.name) : field.initial);
    if (value === undefined) {
      if (field.required) faults.set(field.name, { rule: 'required' });
      continue;
    }
    const check = checkValue(field.schema, value);
    if (check.ok) content.push([field.name, check.value]);
    else faults.set(field.name, faultOfNumber(field, value) ?? check.fault);
  }
  // Unlike assignment, this creates an own property for any name, `__proto__` included.
  return faults.size > 0 ? { ok: false, faults } : { ok: true, content: Object.fromEntries(content) };
}

/** The value of a draft, valid or not; undefined for an empty control. A text that cannot be parsed is returned as it is. */
export function valueFrom(field: Field, draft: Draft): unknown {
  // An unchanged default is answered exactly, even if its control cannot show it completely.
  if (draft !== undefined && draft === field.initial) return field.schema.default ?? draft;
  switch (field.kind) {
    case 'boolean':
    case 'select':
      return draft;
    case 'multi':
      return chosen(field.choices, draft, field.required);
    case 'text':
      return draft === '' ? undefined : draft;
    default:
      return typeof draft === 'string' ? readText(field.kind, draft.trim()) : draft;
  }
}

function readText(
  kind: Exclude<Field['kind'], 'boolean' | 'select' | 'multi' | 'text'>,
  text: string,
): unknown {
  if (text === '') return undefined;
  if (kind === 'date-time') return offsetTimeOf(text) ?? text;
  if (kind === 'number' || kind === 'integer') return readTypedNumber(kind, text) ?? text;
  return text;
}

function chosen(choices: readonly { readonly value: string }[], draft: Draft, required: boolean): unknown {
  if (!Array.isArray(draft)) return draft;
  if (draft.length === 0 && !required) return undefined;
  const indexOf = (value: string) => choices.findIndex((choice) => choice.value === value);
  return [...draft].sort((a, b) => indexOf(a) - indexOf(b));
}

function faultOfNumber({ kind }: Field, value: unknown): FieldFault | undefined {
  if (typeof value !== 'string' || (kind !== 'number' && kind !== 'integer')) return undefined;
  if (/^[\s\d.,'+-]*,[\s\d.,']*$/.test(value)) return { rule: 'comma' };
  return kind === 'integer' && isTypedFraction(value) ? { rule: 'integer' } : undefined;
}
