import { DEFAULT_FORM_CAPS, findExcess } from '@parley/shared/domain/forms/bounds';
import { checkFormSchema, type FormSchema } from '@parley/shared/domain/forms/schema';
import { isRecord, own } from '@parley/shared/domain/plain-record';

/** A schema of the form subset, or why a server's schema cannot be shown. The message is for the server's developers. */
export type ImportedSchema =
  | { readonly ok: true; readonly schema: FormSchema }
  | { readonly ok: false; readonly message: string };

type JsonObject = Record<string, unknown>;

// Annotations that change neither what is asked nor what is valid. An answer never repeats a choice anyway.
const IGNORED = ['examples', 'deprecated', 'readOnly', '$comment', 'uniqueItems'];
// Before it is rewritten, a schema may be larger and deeper: examples and annotations are dropped.
const RAW_CAPS = { ...DEFAULT_FORM_CAPS, jsonBytes: 4 * DEFAULT_FORM_CAPS.jsonBytes };
const RAW_DEPTH_MAX = 64;
const EXAMPLES_MAX = 5;
const EXAMPLE_LENGTH_MAX = 100;

/**
 * Imports the `requestedSchema` of an `elicitation/create` (MCP 2025-11-25 and 2026-07-28). Accepts both spellings of
 * titled choices (`oneOf`, `anyOf`), `enumNames`, `pattern` and `examples`, which become part of the field's description;
 * refuses everything else outside the subset. Never throws; its cost is bounded by the caps of forms.
 */
export function importSchema(raw: unknown): ImportedSchema {
  const excess = findExcess(raw, RAW_CAPS, RAW_DEPTH_MAX);
  const checked =
    excess === undefined
      ? checkFormSchema(normalized(raw), {}, { patterns: true })
      : ({ ok: false, issues: [excess] } as const);
  if (checked.ok) return checked;
  const [issue] = checked.issues;
  const at = issue === undefined || issue.path === '' ? 'requestedSchema' : `requestedSchema.${issue.path}`;
  return { ok: false, message: `${at} ${issue?.message ?? 'is not a form'}` };
}

/** Rewrites the spellings that differ from those of the subset. Leaves whatever is not a form as it is. */
function normalized(raw: unknown): unknown {
  const properties = isRecord(raw) ? own(raw, 'properties') : undefined;
  if (!isRecord(raw) || !isRecord(properties)) return raw;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    isRecord(field) ? normalizedField(field) : field,
  ]);
  return { ...raw, properties: Object.fromEntries(fields) };
}

function normalizedField(field: JsonObject): JsonObject {
  const kept = Object.fromEntries(Object.entries(field).filter(([key]) => !IGNORED.includes(key)));
  const examples = describeExamples(own(field, 'examples'));
  const description = [own(kept, 'description'), examples].filter((part) => part !== undefined);
  return {
    ...withoutForeignPattern(withChoices(kept)),
    ...(examples !== undefined && description.every((part) => typeof part === 'string')
      ? { description: description.join(' ') }
      : {}),
  };
}

/** Titled choices: `oneOf` in a select, `anyOf` in the items of a multi-select. */
function withChoices(field: JsonObject): JsonObject {
  if (field.type === 'array' && isRecord(field.items)) {
    const { oneOf, anyOf = oneOf, ...items } = field.items;
    if (anyOf === undefined) return field;
    // The type of titled choices follows from their values.
    const { type, ...others } = items;
    return {
      ...field,
      items: { ...(type === 'string' ? others : items), anyOf: titled(anyOf) },
    };
  }
  const { oneOf, anyOf, ...others } = field;
  const choices = oneOf ?? (field.type === 'string' ? anyOf : undefined);
  return choices === undefined ? field : { ...others, oneOf: titled(choices) };
}

/** A choice without a title is shown by its value. */
function titled(choices: unknown): unknown {
  if (!Array.isArray(choices)) return choices;
  return choices.map((choice: unknown) =>
    isRecord(choice) && typeof choice.const === 'string' && choice.title === undefined
      ? { ...choice, title: choice.const }
      : choice,
  );
}

/** Schema generators add a `pattern` to every `format`, often one that RE2 does not know. The format suffices. */
function withoutForeignPattern(field: JsonObject): JsonObject {
  if (field.format === undefined) return field;
  const { pattern: _, ...others } = field;
  return others;
}

function describeExamples(examples: unknown): string | undefined {
  if (!Array.isArray(examples)) return undefined;
  const shown = examples
    .filter((example) => ['string', 'number', 'boolean'].includes(typeof example))
    .map(String)
    .filter(({ length }) => length > 0 && length <= EXAMPLE_LENGTH_MAX)
    .slice(0, EXAMPLES_MAX);
  return shown.length === 0 ? undefined : `For example: ${shown.join(', ')}`;
}
