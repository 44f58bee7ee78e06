import { type Issue, joinPath, shownName } from '../issue.ts';
import { isRecord } from '../plain-record.ts';
import { faultOfProse } from '../text.ts';
import { DEFAULT_FORM_CAPS, type FormCaps, findExcess } from './bounds.ts';
import { LABELS, readField } from './field.ts';
import { PATTERN_SIZE_MAX } from './pattern.ts';
import { only, prose, readList, readShape, refuse, type SchemaReading, type Shape } from './shape.ts';
import type { FormField } from './value.ts';

export { DEFAULT_FORM_CAPS, type FormCaps } from './bounds.ts';
export type { FormField } from './value.ts';

/** The schema of a form: a flat object of fields, in the restricted JSON Schema of MCP elicitation. */
export type FormSchema = {
  $schema?: string;
  type: 'object';
  title?: string;
  description?: string;
  properties: Record<string, FormField>;
  required?: string[];
  additionalProperties?: false;
};

type FormSchemaCheck = { ok: true; schema: FormSchema } | { ok: false; issues: Issue[] };

const NAME_LENGTH_MAX = 128;
const SCHEMA_URI_LENGTH_MAX = 256;
/** Property names that clash with special names of JavaScript objects. */
export const RESERVED_NAMES = ['__proto__', 'constructor', 'prototype'];

const FORM: Shape = {
  name: 'form',
  keywords: {
    $schema: prose(() => SCHEMA_URI_LENGTH_MAX),
    type: only('object'),
    ...LABELS,
    properties: readProperties,
    required: readList<string>(
      prose(() => NAME_LENGTH_MAX),
      (name) => name,
    ),
    additionalProperties: only(false),
  },
  needs: ['type', 'properties'],
};

export interface FormSchemaOptions {
  /** True accepts `pattern` in string fields, for adapters of protocols that allow it. */
  readonly patterns?: boolean | undefined;
}

/**
 * Checks a `requestedSchema` against the subset (MCP 2025-11-25 and 2026-07-28). Returns a copy, which would pass the same
 * check unchanged. Accepts any plain data and never throws. Size, width and depth are checked first. A key with the value
 * `undefined` counts as absent.
 */
export function checkFormSchema(
  input: unknown,
  caps: Partial<FormCaps> = {},
  { patterns = false }: FormSchemaOptions = {},
): FormSchemaCheck {
  const reading: SchemaReading = {
    issues: [],
    caps: { ...DEFAULT_FORM_CAPS, ...caps },
    ...(patterns && { patternRoom: PATTERN_SIZE_MAX }),
  };
  const excess = findExcess(input, reading.caps);
  if (excess !== undefined) return { ok: false, issues: [excess] };
  const schema = readShape(input, '', FORM, reading) as FormSchema | undefined;
  if (schema === undefined) return { ok: false, issues: reading.issues };
  schema.required?.forEach((name, at) => {
    if (Object.hasOwn(schema.properties, name)) return;
    refuse(reading, `required.${at}`, 'names no property; add the property or remove the name');
  });
  return reading.issues.length > 0 ? { ok: false, issues: reading.issues } : { ok: true, schema };
}

function readProperties(value: unknown, path: string, reading: SchemaReading): unknown {
  if (!isRecord(value)) return refuse(reading, path, 'must be an object with one entry for each field');
  const fields: [string, FormField][] = [];
  const names = Object.keys(value);
  for (const name of names) {
    const at = joinPath(path, shownName(name));
    const fault = faultOfName(name);
    if (fault !== undefined) refuse(reading, at, fault);
    const field = readField(value[name], at, reading);
    if (fault === undefined && field !== undefined) fields.push([name, field]);
  }
  return fields.length === names.length ? Object.fromEntries(fields) : undefined;
}

function faultOfName(name: string): string | undefined {
  if (name === '') return 'must have a name';
  if (/\p{Cc}/u.test(name)) return 'must have a name without control characters';
  if (RESERVED_NAMES.includes(name)) return 'must have another name; this one is reserved';
  const fault = faultOfProse(name, NAME_LENGTH_MAX);
  return fault && `its name ${fault}`;
}
