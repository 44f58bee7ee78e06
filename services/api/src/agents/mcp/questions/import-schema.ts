import { DEFAULT_FORM_CAPS, findExcess } from '@parley/shared/domain/forms/bounds';
import { checkFormSchema, type FormSchema } from '@parley/shared/domain/forms/schema';
import { type Issue, shownName } from '@parley/shared/domain/issue';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import { CONDITIONS, importField, type RawSchema, referred } from './import-field.ts';
import type { FieldRestore, Restores } from './restores.ts';

/** A schema of the form subset, or why a server's schema cannot be shown. The message is for the server's developers. */
export type ImportedSchema =
  | {
      readonly ok: true;
      readonly schema: FormSchema;
      /** How an answer becomes the one that the server's own schema describes. Absent: it is that answer. */
      readonly restores?: Restores;
    }
  | { readonly ok: false; readonly message: string };

// Before it is rewritten, a schema may be larger and deeper: definitions, examples and annotations are dropped.
const RAW_CAPS = { ...DEFAULT_FORM_CAPS, jsonBytes: 4 * DEFAULT_FORM_CAPS.jsonBytes };
const RAW_DEPTH_MAX = 64;
// Conditions stay, so that they are refused: an answer that they forbid would be asked for.
const FORM_KEYWORDS = [
  '$schema',
  'type',
  'title',
  'description',
  'required',
  'anyOf',
  'oneOf',
  ...CONDITIONS,
];
/** Names with a special meaning in JavaScript objects, which forms refuse. */
const RESERVED_NAMES = ['__proto__', 'constructor', 'prototype'];
const REASON_LENGTH_MAX = 120;

/**
 * Imports the `requestedSchema` of an `elicitation/create` (MCP 2025-11-25 and 2026-07-28), as servers and the generators of
 * their schemas write it. What can be said in the form subset is rewritten (import-field.ts); an optional field that cannot be
 * shown is left out, and the description names it; everything else outside the subset is refused. Never throws; its cost is
 * bounded by the caps of forms.
 */
export function importSchema(raw: unknown): ImportedSchema {
  const excess = findExcess(raw, RAW_CAPS, RAW_DEPTH_MAX);
  if (excess !== undefined) return refused([excess]);
  const root = isRecord(raw) ? (referred(raw, raw) ?? raw) : raw;
  const properties = isRecord(root) ? own(root, 'properties') : undefined;
  const { schema, restores } =
    isRecord(root) && isRecord(properties) ? rewritten(root, properties) : { schema: root, restores: {} };
  const checked = check(schema);
  if (!checked.ok) return refused(checked.issues);
  return { ...checked, ...(Object.keys(restores).length > 0 && { restores }) };
}

function check(schema: unknown) {
  return checkFormSchema(schema, {}, { patterns: true });
}

function refused([issue]: readonly Issue[]): ImportedSchema {
  const at = issue === undefined || issue.path === '' ? 'requestedSchema' : `requestedSchema.${issue.path}`;
  return { ok: false, message: `${at} ${issue?.message ?? 'is not a form'}` };
}

interface ReadField {
  /** The server's name. */
  readonly name: string;
  /** The name in the form. */
  readonly shown: string;
  readonly field: unknown;
  readonly restore: FieldRestore;
  readonly isNeeded: boolean;
  /** Why the field cannot be shown. */
  readonly fault: string | undefined;
}

function rewritten(root: RawSchema, properties: RawSchema): { schema: RawSchema; restores: Restores } {
  const required = own(root, 'required');
  const all = Object.entries(properties).map(([name, given]): ReadField => {
    const { field: read, restore, isNullable } = importField(given, root);
    const { field, fault } = withoutFalseDefault(read);
    const isRequired = Array.isArray(required) && required.includes(name);
    return {
      name,
      ...withAllowedName(name, field, properties),
      restore: { ...restore, ...(isRequired && isNullable && { isNullWhenAbsent: true }) },
      isNeeded: isRequired && !isNullable,
      fault,
    };
  });
  const leftOut = all.filter(({ fault, isNeeded }) => fault !== undefined && !isNeeded);
  // Where nothing else is asked, the form is refused for what is wrong with its fields.
  const asked = leftOut.length === all.length ? all : all.filter((field) => !leftOut.includes(field));
  const form = Object.fromEntries(Object.entries(root).filter(([key]) => FORM_KEYWORDS.includes(key)));
  const restores = asked.map(({ name, shown, restore }): [string, FieldRestore] => [
    shown,
    { ...restore, ...(shown !== name && { name }) },
  ]);
  return {
    schema: {
      type: 'object',
      ...form,
      ...described(form, asked.length < all.length ? leftOut : []),
      properties: Object.fromEntries(asked.map(({ shown, field }) => [shown, field])),
      ...(Array.isArray(required) && {
        required: asked.filter(({ isNeeded }) => isNeeded).map(({ shown }) => shown),
      }),
      ...(own(root, 'additionalProperties') === false && { additionalProperties: false }),
    },
    restores: Object.fromEntries(restores.filter(([, restore]) => Object.keys(restore).length > 0)),
  };
}

/** The field, without a default that does not fit it, and what else is wrong with it. */
function withoutFalseDefault(field: unknown): { field: unknown; fault: string | undefined } {
  const checked = check({ type: 'object', properties: { field } });
  if (checked.ok) return { field, fault: undefined };
  const [issue] = checked.issues;
  if (issue?.path !== 'properties.field.default' || !isRecord(field)) return { field, fault: issue?.message };
  const { default: _, ...others } = field;
  return { field: others, fault: undefined };
}

/** A field under a name that forms take, and with its own name as its title. */
function withAllowedName(name: string, field: unknown, properties: RawSchema) {
  if (!RESERVED_NAMES.includes(name) || !isRecord(field)) return { shown: name, field };
  let allowed = `${name.replaceAll('_', '')}_`;
  while (Object.hasOwn(properties, allowed)) allowed += '_';
  return { shown: allowed, field: { title: name, ...field } };
}

/** The description of a form, which names the fields that are not asked, and says why. */
function described(form: RawSchema, leftOut: readonly ReadField[]): { description?: string } {
  if (leftOut.length === 0) return {};
  const names = leftOut.map(
    ({ name, fault }) => `${shownName(name)} (${fault?.slice(0, REASON_LENGTH_MAX)})`,
  );
  const note = `Not asked here, because it cannot be shown: ${names.join('; ')}.`;
  const given = own(form, 'description');
  const whole = typeof given === 'string' ? `${given}\n${note}` : note;
  const most = DEFAULT_FORM_CAPS.descriptionLength;
  return [...whole].length <= most ? { description: whole } : {};
}
