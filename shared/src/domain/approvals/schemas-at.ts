/**
 * Finds the subschemas that may describe a value inside a JSON Schema that a server chose, within a fixed amount of work. It
 * validates nothing and runs none of the schema's regular expressions.
 */

import { isRecord, own } from '@parley/core/domain/plain-record';

type Subschema = Readonly<Record<string, unknown>>;

/**
 * All schemas that may describe one value, because any of the alternatives may apply. `isPartial`: there are too many schemas
 * to read, or a reference leads to none in the document.
 */
export interface SchemasOfValue {
  readonly schemas: readonly Subschema[];
  readonly isPartial: boolean;
}

/** How many more schemas may be read of a document that a server chose, for all values together. */
interface ReadBudget {
  left: number;
}

const SCHEMAS_MAX = 200;
const REFERENCE_LENGTH_MAX = 500;
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'];
const CONDITIONAL = ['if', 'then', 'else'];
const MAPS = ['dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/** The given schemas of a value, plus their alternatives and the targets of their references within the document `root`. */
export function schemasOf(root: unknown, given: readonly unknown[], budget: ReadBudget): SchemasOfValue {
  const found = new Set<Subschema>();
  const open = [...given];
  let isPartial = false;
  // Charge the budget for the schemas that the caller has collected.
  budget.left -= given.length;
  while (open.length > 0) {
    const schema = open.pop();
    budget.left -= 1;
    if (!isRecord(schema) || found.has(schema)) continue;
    if (found.size === SCHEMAS_MAX || budget.left <= 0) return { schemas: [...found], isPartial: true };
    found.add(schema);
    for (const other of othersOf(schema)) open.push(other);
    for (const keyword of REFERENCES) {
      const reference = own(schema, keyword);
      if (reference === undefined) continue;
      const target = targetOf(root, reference);
      if (target === undefined) isPartial = true;
      else open.push(target);
    }
  }
  return { schemas: [...found], isPartial };
}

/**
 * Whether a validator can check a value against a document within `stepsMax` steps. A step is the application of one schema to
 * one value inside the given value. A validator applies a schema again for each reference to it, so even a short document may
 * take for ever.
 */
export function isWithinSteps(root: unknown, given: unknown, stepsMax: number): boolean {
  let left = stepsMax;

  function apply(schema: unknown, value: unknown): void {
    left -= 1;
    if (left < 0) throw new RangeError('too many steps');
    if (!isRecord(schema)) return;
    for (const other of [own(schema, 'not'), ...othersOf(schema)]) apply(other, value);
    for (const keyword of REFERENCES) if (Object.hasOwn(schema, keyword)) follow(schema[keyword], value);
    for (const [inner, part] of partsOf(schema, value)) apply(inner, part);
  }

  function follow(reference: unknown, value: unknown): void {
    if (isTooLong(reference)) throw new RangeError('a reference is too long');
    apply(targetOf(root, reference), value);
  }

  try {
    apply(root, given);
    return true;
  } catch (error) {
    // Circular references overflow the stack, which is also a RangeError.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The members or items of a value, each with a schema that describes it. A generator, because there may be too many. */
function* partsOf(schema: Subschema, value: unknown): Generator<[schema: unknown, part: unknown]> {
  const here = { schemas: [schema], isPartial: false };
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) for (const inner of itemSchemas(here, at)) yield [inner, item];
  else if (isRecord(value))
    for (const [name, member] of Object.entries(value))
      for (const inner of propertySchemas(here, name)) yield [inner, member];
}

/** The schemas inside a schema that may describe the same value. */
function othersOf(schema: Subschema): unknown[] {
  return [
    ...ALTERNATIVES.flatMap((keyword) => listIn(own(schema, keyword))),
    ...CONDITIONAL.map((keyword) => own(schema, keyword)),
    ...MAPS.flatMap((keyword) => valuesIn(own(schema, keyword))),
  ];
}

/**
 * The schemas that may describe a property. The document's regular expressions are not run: any `patternProperties` schema may
 * apply.
 */
export function propertySchemas({ schemas }: SchemasOfValue, name: string): unknown[] {
  return schemas.flatMap((schema) => {
    const properties = own(schema, 'properties');
    const named = isRecord(properties) ? own(properties, name) : undefined;
    const others = [own(schema, 'additionalProperties'), own(schema, 'unevaluatedProperties')];
    return [...valuesIn(own(schema, 'patternProperties')), ...(named === undefined ? others : [named])];
  });
}

/** The schemas that may describe a list item. */
export function itemSchemas({ schemas }: SchemasOfValue, at: number): unknown[] {
  return schemas.flatMap((schema) => {
    const items = own(schema, 'items');
    // Earlier drafts of JSON Schema write `prefixItems` as a list in `items`.
    const first = [...listIn(own(schema, 'prefixItems')), ...listIn(items)];
    const others = [items, own(schema, 'additionalItems'), own(schema, 'unevaluatedItems')];
    return [own(schema, 'contains'), ...(at < first.length ? [first[at]] : others)];
  });
}

/** The target of a local reference (`#`, or `#` and a JSON pointer). */
function targetOf(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || (reference !== '#' && !reference.startsWith('#/'))) return undefined;
  if (isTooLong(reference)) return undefined;
  let at: unknown = root;
  for (const name of reference.split('/').slice(1).map(decodeName)) {
    if (at === null || typeof at !== 'object' || name === undefined || !Object.hasOwn(at, name))
      return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** Following a reference counts as one step, whatever its length, so long references are refused. */
function isTooLong(reference: unknown): boolean {
  return typeof reference === 'string' && reference.length > REFERENCE_LENGTH_MAX;
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function valuesIn(value: unknown): readonly unknown[] {
  return isRecord(value) ? Object.values(value) : [];
}
