/**
 * Imports the schema of a server's question as a form, or says why it cannot be shown. Single fields are rewritten in
 * `import-field.ts`, secrets are recognized in `secret-fields.ts`.
 */

import { DEFAULT_FORM_CAPS, findExcess } from '@parley/core/domain/forms/bounds';
import { PATTERN_SIZE_MAX, sizeOfPattern } from '@parley/core/domain/forms/pattern';
import {
  checkFormSchema,
  type FormField,
  type FormSchema,
  RESERVED_NAMES,
} from '@parley/core/domain/forms/schema';
import { type Issue, joinPath, shownName } from '@parley/core/domain/issue';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { importField } from './import-field.ts';
import { withLeftOut } from './left-out.ts';
import { CONDITIONS, pick, type RawSchema, referred } from './parts.ts';
import type { FieldRestore, Restores } from './restores.ts';
import { ASKS_FOR_SECRET, createSecretJudge, secretFieldByTexts } from './secret-fields.ts';

/** A schema in the form subset, or why a server's schema cannot be shown. The message is for the server's developers. */
type ImportedSchema =
  | {
      readonly ok: true;
      readonly schema: FormSchema;
      /** How an answer is converted to fit the server's own schema. Absent if no conversion is needed. */
      readonly restores?: Restores;
    }
  | { readonly ok: false; readonly message: string };

// A schema may be larger and deeper before it is rewritten, because definitions, examples and annotations are dropped.
const RAW_CAPS = { ...DEFAULT_FORM_CAPS, jsonBytes: 4 * DEFAULT_FORM_CAPS.jsonBytes };
const RAW_DEPTH_MAX = 64;
/** Keywords with which a form limits its answers. The form subset knows only the first of them. */
const FORM_LIMITS = [
  'properties',
  'required',
  'additionalProperties',
  'const',
  'enum',
  'anyOf',
  'oneOf',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'patternProperties',
  'dependencies',
  ...CONDITIONS,
];
// Conditions are kept so that the form is refused for them: otherwise an answer that they forbid could be asked for.
const FORM_KEYWORDS = ['$schema', 'type', 'title', 'description', ...FORM_LIMITS];
/** Names with a special meaning in JavaScript objects, which forms refuse. */

/**
 * Imports the `requestedSchema` of an `elicitation/create` (MCP 2025-11-25 and 2026-07-28), in the forms that servers and
 * schema generators write. Fields that the form subset can express are rewritten (import-field.ts). An optional field that
 * cannot be shown is left out, and the description names it. Everything else outside the subset is refused. So is a form that
 * asks for a secret, in its fields or its message. Never throws; its cost is bounded by the caps of forms.
 */
export function importSchema(raw: unknown, message: string): ImportedSchema {
  const excess = findExcess(raw, RAW_CAPS, RAW_DEPTH_MAX);
  if (excess !== undefined) return refused(excess);
  const root = isRecord(raw) ? rootOf(raw) : raw;
  const properties = isRecord(root) ? own(root, 'properties') : undefined;
  if (!isRecord(root) || !isRecord(properties) || !isRecord(raw)) return refused(firstIssue(root));
  const all = withPatternRoom(readFields(root, properties, raw));
  const leftOut = all.flatMap(({ name, fault, isNeeded }) =>
    fault !== undefined && !isNeeded ? [{ name, fault }] : [],
  );
  // If no other field is left, the form is refused with the fault of its field.
  const isEmpty = leftOut.length === all.length;
  const stopping = all.find(({ fault, isNeeded }) => fault !== undefined && (isNeeded || isEmpty));
  if (stopping?.fault !== undefined) return refused(stopping.fault);

  const checked = check(formOf(root, properties, all));
  if (!checked.ok) return refused(checked.issues[0]);
  const secret = secretFieldByTexts(message, checked.schema);
  if (secret !== undefined) return refused(secretFault(secret));
  // The note is added after the search for secrets, because it names secret fields.
  const noted = check(withLeftOut(checked.schema, leftOut));
  const restores = restoresOf(all);
  const hasRestores = Object.keys(restores).length > 0;
  return { ok: true, schema: (noted.ok ? noted : checked).schema, ...(hasRestores && { restores }) };
}

function check(schema: unknown) {
  return checkFormSchema(schema, {}, { patterns: true });
}

function firstIssue(schema: unknown): Issue | undefined {
  const checked = check(schema);
  return checked.ok ? undefined : checked.issues[0];
}

function refused(issue: Issue | undefined): ImportedSchema {
  const at = issue === undefined || issue.path === '' ? 'requestedSchema' : `requestedSchema.${issue.path}`;
  return { ok: false, message: `${at} ${issue?.message ?? 'is not a form'}` };
}

function secretFault(name: string): Issue {
  return { path: pathOf(name), message: ASKS_FOR_SECRET };
}

function pathOf(name: string): string {
  return joinPath('properties', shownName(name));
}

/** The form, or the schema to which it refers. A reference stays if a keyword beside it also limits answers. */
function rootOf({ $ref: ref, ...beside }: RawSchema): RawSchema {
  const found = referred(ref, beside);
  const isAlone = FORM_LIMITS.every((key) => !Object.hasOwn(beside, key));
  if (found !== undefined && isAlone)
    return { ...pick(found, FORM_KEYWORDS), ...pick(beside, FORM_KEYWORDS) };
  return pick({ ...beside, ...(ref !== undefined && { $ref: ref }) }, FORM_KEYWORDS);
}

interface ReadField {
  /** The field's name in the server's schema. */
  readonly name: string;
  /** The field's name in the form. */
  readonly shown: string;
  /** Absent if there is a fault. */
  readonly field?: FormField | undefined;
  /** Why the field cannot be asked. */
  readonly fault?: Issue | undefined;
  readonly restore: FieldRestore;
  /** True if the server needs an answer other than null. */
  readonly isNeeded: boolean;
}

function readFields(root: RawSchema, properties: RawSchema, definitions: RawSchema): ReadField[] {
  const required = namesIn(own(root, 'required'));
  const isSecret = createSecretJudge();
  return Object.entries(properties).map(([name, given]): ReadField => {
    const { field, restore, isNullable, parts } = importField(given, definitions);
    const { shown, field: named } = withAllowedName(name, field, properties);
    const checked = checkField(shown, named);
    const isAsked = !isSecret({ name, field: checked.field, parts });
    const isRequired = required.has(name);
    return {
      name,
      shown,
      ...(isAsked ? checked : { fault: secretFault(name) }),
      restore: {
        ...restore,
        ...(shown !== name && { name }),
        ...(isRequired && isNullable && { isNullWhenAbsent: true }),
      },
      isNeeded: isRequired && !isNullable,
    };
  });
}

function namesIn(required: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

/** A field whose name the form refuses gets another name, and its own name as its title. */
function withAllowedName(name: string, field: unknown, properties: RawSchema) {
  if (!RESERVED_NAMES.includes(name) || !isRecord(field)) return { shown: name, field };
  let allowed = `${name.replaceAll('_', '')}_`;
  while (Object.hasOwn(properties, allowed)) allowed += '_';
  return { shown: allowed, field: { title: name, ...field } };
}

/** The field of the form, without a default that does not fit; or its fault. */
function checkField(name: string, field: unknown): Pick<ReadField, 'field' | 'fault'> {
  const checked = check({ type: 'object', properties: Object.fromEntries([[name, field]]) });
  if (checked.ok) return { field: checked.schema.properties[name] };
  const [fault] = checked.issues;
  if (!isRecord(field) || fault?.path !== joinPath(pathOf(name), 'default')) return { fault };
  const { default: _, ...others } = field;
  return checkField(name, others);
}

/**
 * Limits the total size of the patterns in a form. Fields that the server needs get room first; other fields that do not fit
 * get a fault.
 */
function withPatternRoom(fields: readonly ReadField[]): ReadField[] {
  let room = PATTERN_SIZE_MAX;
  const excessive = fields
    .toSorted((one, other) => Number(other.isNeeded) - Number(one.isNeeded))
    .filter(({ field }) => {
      const size = field !== undefined && 'pattern' in field ? sizeOfPattern(field.pattern ?? '') : 0;
      const isExcessive = typeof size !== 'number' || size > room;
      if (!isExcessive) room -= size;
      return isExcessive;
    });
  return fields.map((field) => {
    if (!excessive.includes(field)) return field;
    const message = 'must be simpler: the patterns of this form are too large together';
    return { ...field, field: undefined, fault: { path: joinPath(pathOf(field.name), 'pattern'), message } };
  });
}

function formOf(root: RawSchema, properties: RawSchema, all: readonly ReadField[]): RawSchema {
  const { additionalProperties, required, ...form } = root;
  const asked = all.filter(({ field }) => field !== undefined);
  const needed = asked.filter(({ isNeeded }) => isNeeded).map(({ shown }) => shown);
  // A required name without a field is kept so that the form is refused: no answer would be valid.
  const unknown = [...namesIn(required)].filter((name) => !Object.hasOwn(properties, String(name)));
  const isList = Array.isArray(required);
  return {
    type: 'object',
    ...form,
    properties: Object.fromEntries(asked.map(({ shown, field }) => [shown, field])),
    ...(required !== undefined && { required: isList ? [...needed, ...unknown] : required }),
    ...(additionalProperties === false && { additionalProperties }),
  };
}

function restoresOf(fields: readonly ReadField[]): Restores {
  // A field that is not asked may still need a null in the answer.
  const restores = fields.filter(({ field, restore }) => field !== undefined || restore.isNullWhenAbsent);
  return Object.fromEntries(
    restores
      .filter(({ restore }) => Object.keys(restore).length > 0)
      .map(({ shown, restore }) => [shown, restore]),
  );
}
