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

/** A schema of the form subset, or why a server's schema cannot be shown. The message is for the server's developers. */
type ImportedSchema =
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
/** Keywords by which a form limits its answers. Forms of the subset have the first of them only. */
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
// Conditions stay, so that they are refused: an answer that they forbid would be asked for.
const FORM_KEYWORDS = ['$schema', 'type', 'title', 'description', ...FORM_LIMITS];
/** Names with a special meaning in JavaScript objects, which forms refuse. */

/**
 * Imports the `requestedSchema` of an `elicitation/create` (MCP 2025-11-25 and 2026-07-28), as servers and the generators of
 * their schemas write it. What can be said in the form subset is rewritten (import-field.ts); an optional field that cannot be
 * shown is left out, and the description names it; everything else outside the subset is refused, and so is a form that asks
 * for a secret, by its fields or by the message. Never throws; its cost is bounded by the caps of forms.
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
  // Where nothing else is asked, the form is refused for what is wrong with its fields.
  const isEmpty = leftOut.length === all.length;
  const stopping = all.find(({ fault, isNeeded }) => fault !== undefined && (isNeeded || isEmpty));
  if (stopping?.fault !== undefined) return refused(stopping.fault);

  const checked = check(formOf(root, properties, all));
  if (!checked.ok) return refused(checked.issues[0]);
  const secret = secretFieldByTexts(message, checked.schema);
  if (secret !== undefined) return refused(secretFault(secret));
  // Behind the search for secrets, because the note names them.
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

/** The form, or what it refers to. A reference stays where something beside it limits answers as well. */
function rootOf({ $ref: ref, ...beside }: RawSchema): RawSchema {
  const found = referred(ref, beside);
  const isAlone = FORM_LIMITS.every((key) => !Object.hasOwn(beside, key));
  if (found !== undefined && isAlone)
    return { ...pick(found, FORM_KEYWORDS), ...pick(beside, FORM_KEYWORDS) };
  return pick({ ...beside, ...(ref !== undefined && { $ref: ref }) }, FORM_KEYWORDS);
}

interface ReadField {
  /** The server's name. */
  readonly name: string;
  /** The name in the form. */
  readonly shown: string;
  /** Absent where there is a fault. */
  readonly field?: FormField | undefined;
  /** Why the field cannot be asked. */
  readonly fault?: Issue | undefined;
  readonly restore: FieldRestore;
  /** The server needs an answer other than null. */
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

/** A field under a name that forms take, and with its own name as its title. */
function withAllowedName(name: string, field: unknown, properties: RawSchema) {
  if (!RESERVED_NAMES.includes(name) || !isRecord(field)) return { shown: name, field };
  let allowed = `${name.replaceAll('_', '')}_`;
  while (Object.hasOwn(properties, allowed)) allowed += '_';
  return { shown: allowed, field: { title: name, ...field } };
}

/** The field of the form, without a default that does not fit it, or what is wrong with it. */
function checkField(name: string, field: unknown): Pick<ReadField, 'field' | 'fault'> {
  const checked = check({ type: 'object', properties: Object.fromEntries([[name, field]]) });
  if (checked.ok) return { field: checked.schema.properties[name] };
  const [fault] = checked.issues;
  if (!isRecord(field) || fault?.path !== joinPath(pathOf(name), 'default')) return { fault };
  const { default: _, ...others } = field;
  return checkField(name, others);
}

/** The fields whose patterns are small enough together, those that the server needs first. */
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
  // A name without a field stays, so that it is refused: no answer would be valid.
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
  // Of a field that is not asked, null may have to be sent.
  const restores = fields.filter(({ field, restore }) => field !== undefined || restore.isNullWhenAbsent);
  return Object.fromEntries(
    restores
      .filter(({ restore }) => Object.keys(restore).length > 0)
      .map(({ shown, restore }) => [shown, restore]),
  );
}
