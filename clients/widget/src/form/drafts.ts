import type { Fault } from '@parley/shared/domain/forms/fault';
import { checkValue, type FormValue } from '@parley/shared/domain/forms/value';
import type { Draft, Field } from './fields.ts';
import { offsetTimeOf } from './local-time.ts';

/** Why a field cannot be sent as it is; `comma`: a number written with a comma, which may mean two things. */
export type FieldFault = Fault | { readonly rule: 'comma' };

/** What a form comes to: the content to send, or what is wrong, by field name in the order of the fields. */
export type FormReading =
  | { readonly ok: true; readonly content: Record<string, FormValue> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, FieldFault> };

/**
 * Reads what the person left in the controls, by the rules of the server. A draft that is missing stands for the
 * field's `initial`. An empty optional field is left out, also when it was pre-filled and then cleared.
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
  // Unlike assignment, this makes an own key of any name.
  return faults.size > 0 ? { ok: false, faults } : { ok: true, content: Object.fromEntries(content) };
}

/** What is wrong with one field as it stands, or nothing. */
export function faultOfDraft(field: Field, draft: Draft): FieldFault | undefined {
  const reading = readDrafts([field], new Map([[field.name, draft]]));
  return reading.ok ? undefined : reading.faults.get(field.name);
}

/** The value a draft stands for, right or wrong; nothing for an empty control. What cannot be read stays as it is. */
export function valueFrom(field: Field, draft: Draft): unknown {
  // A default that was left alone is answered as it was written, whatever its control can show of it.
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
  if (kind === 'number' || kind === 'integer') return readNumber(kind, text) ?? text;
  return text;
}

/** A number in plain or scientific notation; nothing for hexadecimals, grouped digits and the like. */
function readNumber(kind: 'number' | 'integer', text: string): number | undefined {
  const plain = text.replace(/^\u2212/, '-');
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return undefined;
  // Rounding must not make a whole number of one that is none.
  if (kind === 'integer' && isBroken(plain)) return undefined;
  return Number(plain);
}

function isBroken(text: string): boolean {
  return /^[^e]*\.\d*[1-9]\d*$/i.test(text);
}

function chosen(choices: readonly { readonly value: string }[], draft: Draft, required: boolean): unknown {
  if (!Array.isArray(draft)) return draft;
  if (draft.length === 0 && !required) return undefined;
  const placeOf = (value: string) => choices.findIndex((choice) => choice.value === value);
  return [...draft].sort((a, b) => placeOf(a) - placeOf(b));
}

function faultOfNumber({ kind }: Field, value: unknown): FieldFault | undefined {
  if (typeof value !== 'string' || (kind !== 'number' && kind !== 'integer')) return undefined;
  if (/^[\s\d.,'+-]*,[\s\d.,']*$/.test(value)) return { rule: 'comma' };
  return kind === 'integer' && isBroken(value) ? { rule: 'integer' } : undefined;
}
