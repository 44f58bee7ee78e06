/**
 * Follows references and wrappers in a server's schema, with bounds on the cost. What a field becomes is decided in
 * `import-field.ts`.
 */

import { DEFAULT_FORM_CAPS } from '@parley/core/domain/forms/bounds';
import { isRecord, own } from '@parley/core/domain/plain-record';

/** A part of a server's schema. */
export type RawSchema = Record<string, unknown>;

/** A schema after its references and wrappers were followed. */
interface Unwrapped {
  /** The combination of all parts, without null. */
  readonly schema: RawSchema;
  /** Each part that was followed, the outermost first. `schema` may contain only one of two parts' values for a keyword. */
  readonly parts: readonly RawSchema[];
  /** True if a part mentions null. */
  readonly namesNull: boolean;
  /** True if the server accepts null. Undefined if that cannot be determined. */
  readonly takesNull: boolean | undefined;
}

/** The maximum number of references and wrappers that are followed for one schema. */
const STEPS_MAX = 8;
/** Longer lists stay unchanged, because forms do not allow them. */
const LIST_MAX = DEFAULT_FORM_CAPS.options;

/** Keywords that do not limit values. Outside a reference or wrapper, they replace those inside it. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'enumNames', 'writeOnly', 'nullable'];
export const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
export const LENGTHS = ['minLength', 'maxLength'];
/** Keywords that limit the valid values of a field, by the field's type. Keywords of other types have no effect. */
export const LIMITS: Readonly<Record<string, readonly string[]>> = {
  string: [...LENGTHS, 'pattern', 'format'],
  number: BOUNDS,
  integer: BOUNDS,
  array: ['items', 'minItems', 'maxItems', 'prefixItems', 'contains', 'minContains', 'maxContains'],
  object: ['properties', 'patternProperties'],
};
/** Keywords that list the valid values. */
export const CHOICES = ['const', 'enum', 'oneOf', 'anyOf'];
/** Keywords other than choices that limit values of any type. Forms have none of them. */
export const CONDITIONS = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
];
const READ = [
  ...new Set(['type', ...ANNOTATIONS, ...CHOICES, ...CONDITIONS, ...Object.values(LIMITS).flat()]),
];

/** The named keywords of a schema. A schema may have many other keywords, which are not read. */
export function pick(schema: RawSchema, keywords: readonly string[]): RawSchema {
  return Object.fromEntries(
    keywords.filter((key) => Object.hasOwn(schema, key)).map((key) => [key, schema[key]]),
  );
}

/**
 * Follows references into `root`, single schemas in `allOf`, `anyOf` and `oneOf`, and the notations of "or null". Keywords
 * beside these count as well. If the same keyword limits values differently inside and outside, the reference or wrapper stays,
 * so that it is refused. Reads a bounded number of keywords.
 */
export function unwrap(raw: RawSchema, root: RawSchema, steps = STEPS_MAX): Unwrapped {
  const part = pick(raw, READ);
  const schema = withoutNull(part);
  const namesNull = NULL_KEYWORDS.some((key) => hasNull(part, key));
  const wrapped = steps > 0 ? wrappedIn(schema, root) : undefined;
  if (wrapped === undefined) return { schema, parts: [part], namesNull, takesNull: takesNull(part) };
  const inner = unwrap(wrapped.inner, root, steps - 1);
  return {
    schema: together(wrapped.beside, inner.schema) ?? schema,
    parts: [part, ...inner.parts],
    namesNull: namesNull || inner.namesNull,
    takesNull: takesNull(part, { schema: wrapped.inner, isTaken: inner.takesNull }),
  };
}

/** The schema to which a local reference points. */
export function referred(ref: unknown, root: RawSchema): RawSchema | undefined {
  const [, group, name] = (typeof ref === 'string' && /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref)) || [];
  const definitions = group === undefined ? undefined : own(root, group);
  const found = isRecord(definitions) && name !== undefined ? own(definitions, unescaped(name)) : undefined;
  return isRecord(found) ? found : undefined;
}

/** Decodes a name in a JSON pointer (RFC 6901). */
function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

interface Wrapped {
  readonly inner: RawSchema;
  readonly beside: RawSchema;
}

/** The schema to which a reference points, or the only schema of a list. A single choice is not unwrapped. */
function wrappedIn(schema: RawSchema, root: RawSchema): Wrapped | undefined {
  for (const key of ['$ref', 'allOf', 'anyOf', 'oneOf']) {
    const { [key]: given, ...beside } = schema;
    const [only] = Array.isArray(given) && given.length === 1 ? (given as unknown[]) : [];
    const inner = key === '$ref' ? referred(given, root) : only;
    if (isRecord(inner) && !Object.hasOwn(inner, 'const')) return { inner, beside };
  }
  return undefined;
}

/** Merges both schemas. Undefined if they limit values differently with the same keyword. */
function together(beside: RawSchema, inner: RawSchema): RawSchema | undefined {
  const isClash = (key: string) => Object.hasOwn(beside, key) && beside[key] !== inner[key];
  const clashes = Object.keys(inner).some((key) => !ANNOTATIONS.includes(key) && isClash(key));
  return clashes ? undefined : { ...inner, ...beside };
}

const NULL_KEYWORDS = ['type', 'const', 'enum', 'anyOf', 'oneOf'];

function isNull(key: string, one: unknown): boolean {
  if (key === 'type') return one === 'null';
  if (key === 'const' || key === 'enum') return one === null;
  return isRecord(one) && (own(one, 'type') === 'null' || own(one, 'const') === null);
}

function hasNull(part: RawSchema, key: string): boolean {
  if (!NULL_KEYWORDS.includes(key) || !Object.hasOwn(part, key)) return false;
  if (key === 'type' && own(part, 'nullable') === true) return true;
  const given = part[key];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.length <= LIST_MAX && list.some((one) => isNull(key, one));
}

interface TakenWithin {
  readonly schema: RawSchema;
  readonly isTaken: boolean | undefined;
}

/** Whether a part accepts null. `inner` says whether the schema that was followed within the part does. */
function takesNull(part: RawSchema, inner?: TakenWithin, isNested = false): boolean | undefined {
  const taken = [...NULL_KEYWORDS, ...CONDITIONS]
    .filter((key) => Object.hasOwn(part, key))
    .map((key) => {
      const given = part[key];
      if (key === '$ref') return inner?.isTaken;
      if (Array.isArray(given) && given.length > LIST_MAX) return undefined;
      if (key === 'type' || key === 'const' || key === 'enum') return hasNull(part, key);
      if (!Array.isArray(given) || isNested) return undefined;
      const each = given.map((one: unknown) => {
        if (one === inner?.schema) return inner?.isTaken;
        return isRecord(one) ? takesNull(one, undefined, true) : undefined;
      });
      return takenByList(key, each);
    });
  return takenByAll(taken);
}

function takenByAll(taken: readonly (boolean | undefined)[]): boolean | undefined {
  if (taken.includes(false)) return false;
  return taken.includes(undefined) ? undefined : true;
}

function takenByList(key: string, taken: readonly (boolean | undefined)[]): boolean | undefined {
  if (key === 'allOf') return takenByAll(taken);
  if (key === 'anyOf' && taken.includes(true)) return true;
  if (taken.includes(undefined)) return undefined;
  return key === 'anyOf' ? false : taken.filter(Boolean).length === 1;
}

function withoutNull({ nullable: _, ...part }: RawSchema): RawSchema {
  const rest = Object.entries(part).map(([key, value]): [string, unknown] => {
    if (!Array.isArray(value) || !hasNull(part, key)) return [key, value];
    const left = value.filter((one) => !isNull(key, one));
    return [key, key === 'type' && left.length === 1 ? left[0] : left];
  });
  // A default of null only means that nothing is chosen yet.
  return Object.fromEntries(rest.filter(([key, one]) => key !== 'default' || one !== null));
}
