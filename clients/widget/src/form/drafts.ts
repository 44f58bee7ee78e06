import { type FormControl, inOrder } from '@parley/core/domain/forms/controls';
import type { Fault } from '@parley/core/domain/forms/fault';
import { isTypedFraction, readTypedNumber } from '@parley/core/domain/forms/typed-number';
import { checkValue, type FormValue } from '@parley/core/domain/forms/value';
import { plainBreaks } from '@parley/core/domain/text';
import type { FieldFault } from '../strings/type.ts';
import { localOf, offsetTimeOf } from './local-time.ts';

/**
 * The value of a control as the person entered it:
 * text, email, uri, number, integer: the text as typed · date: `2026-03-01` · date-time: local, `2026-03-01T09:30` · boolean:
 * true or false · select: the chosen value, which may be '' · multi: the chosen values. `undefined` is no value (an untouched
 * boolean, no choice); for text controls, '' means the same.
 */
export type Draft = string | boolean | readonly string[] | undefined;

/** The content to send, or the faults by field name, in the order of the fields. */
export type FormReading =
  | { readonly ok: true; readonly content: Record<string, FormValue> }
  | { readonly ok: false; readonly faults: ReadonlyMap<string, FieldFault> };

/**
 * Reads the values of the controls by the rules of the server. For a missing draft, the initial one is used. An empty optional
 * field is omitted, even if it had a default that was cleared.
 */
export function readDrafts(fields: readonly FormControl[], drafts: ReadonlyMap<string, Draft>): FormReading {
  const content: [string, FormValue][] = [];
  const faults = new Map<string, FieldFault>();
  for (const field of fields) {
    const value = valueFrom(field, draftIn(drafts, field));
    if (value === undefined) {
      if (field.isRequired) faults.set(field.name, { rule: 'required' });
      continue;
    }
    const check = checkValue(field.schema, value);
    if (check.ok) content.push([field.name, check.value]);
    else faults.set(field.name, preciseFault(field, value, check.fault));
  }
  // Object.fromEntries creates an own property for any name, even `__proto__`, unlike assignment.
  return faults.size > 0 ? { ok: false, faults } : { ok: true, content: Object.fromEntries(content) };
}

/** The value of a draft, valid or not; undefined for an empty control. A text that cannot be parsed is returned unchanged. */
export function valueFrom(field: FormControl, draft: Draft): unknown {
  const { kind, initial } = field;
  // An unchanged default is answered exactly, even if its control cannot show it in full.
  if (draft !== undefined && draft === initialDraft(field)) return initial;
  if (kind === 'multi') return chosen(field, draft);
  if (kind === 'select' || typeof draft !== 'string') return draft;
  if (kind === 'text') return draft || undefined;
  const text = draft.trim();
  if (text === '') return undefined;
  if (kind === 'date-time') return offsetTimeOf(text, initial) ?? text;
  if (kind === 'number' || kind === 'integer') return readTypedNumber(kind, text) ?? text;
  return text;
}

/** What the person has entered in a control. */
export function draftIn(drafts: ReadonlyMap<string, Draft>, field: FormControl): Draft {
  return drafts.has(field.name) ? drafts.get(field.name) : initialDraft(field);
}

function initialDraft({ kind, initial }: FormControl): Draft {
  if (typeof initial === 'string')
    return kind === 'date-time' ? localOf(initial) : kind === 'text' ? plainBreaks(initial) : initial;
  return typeof initial === 'number' ? String(initial) : initial;
}

/** The chosen values. An untouched list has none, like a cleared one. */
function chosen({ choices, isRequired }: FormControl, draft: Draft = []): unknown {
  // The draft of a list control is always a list.
  const values = inOrder(choices, draft as readonly string[]);
  return values.length > 0 || isRequired ? values : undefined;
}

/** A more precise fault for a text that is no number. The server cannot know that it was typed. */
function preciseFault({ kind }: FormControl, value: unknown, fault: Fault): FieldFault {
  if (fault.rule !== 'number' || typeof value !== 'string') return fault;
  if (/^[\s\d.,'+-]*,[\s\d.,']*$/.test(value)) return { rule: 'comma' };
  return kind === 'integer' && isTypedFraction(value) ? { rule: 'integer' } : fault;
}
