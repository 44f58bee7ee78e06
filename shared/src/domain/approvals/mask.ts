import { isRecord } from '../plain-record.ts';
import type { Arguments } from './approval.ts';
import { itemSchemas, propertySchemas, type SchemasOfValue, schemasOf } from './schemas-at.ts';

/** What stands in the place of a secret value. */
export const MASK = '••••••';

const SECRET_NAME = /pass(word|phrase|code)|secret|token|api_?-?key|credential|private_?-?key|authorization/i;
const DEPTH_MAX = 32;
// Takes a fraction of a second. Servers choose their schemas, and a large one must not stop the pod.
const SCHEMA_READS_MAX = 300_000;
/** Where no more is read: the value may be a secret. */
const UNREAD: SchemasOfValue = { schemas: [], isPartial: true };

/** Arguments with their secret values masked, and the JSON pointers of those. */
export interface MaskedArguments {
  readonly arguments: Arguments;
  readonly masked: readonly string[];
  /** True: they are nested so deeply that the inner values are left out. */
  readonly isTooDeep: boolean;
}

/**
 * Masks the secret values of arguments: strings and numbers whose name is that of a secret, or for which a schema says
 * `format: password` or `writeOnly`, alternatives and references included. A value whose schema cannot be read in full is
 * masked too.
 */
export function maskArguments(given: Arguments, schema: unknown): MaskedArguments {
  const masked: string[] = [];
  let isTooDeep = false;
  const budget = { left: SCHEMA_READS_MAX };
  const ifRead = (schemas: () => readonly unknown[]) => (budget.left > 0 ? schemas() : []);

  function walk(
    value: unknown,
    within: readonly unknown[],
    pointer: string,
    isSecret: boolean,
    depth: number,
  ): unknown {
    if (depth > DEPTH_MAX) {
      isTooDeep = true;
      return MASK;
    }
    const known = budget.left > 0 ? schemasOf(schema, within, budget) : UNREAD;
    const hides = isSecret || known.isPartial || known.schemas.some(saysSecret);
    if (Array.isArray(value))
      return value.map((each, at) =>
        walk(
          each,
          ifRead(() => itemSchemas(known, at)),
          `${pointer}/${at}`,
          hides,
          depth + 1,
        ),
      );
    if (isRecord(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
          const next = hides || SECRET_NAME.test(name);
          const path = `${pointer}/${escapeName(name)}`;
          return [
            name,
            walk(
              each,
              ifRead(() => propertySchemas(known, name)),
              path,
              next,
              depth + 1,
            ),
          ];
        }),
      );
    if (!hides || (typeof value !== 'string' && typeof value !== 'number')) return value;
    masked.push(pointer);
    return MASK;
  }

  const shown = walk(given, [schema], '', false, 0) as Arguments;
  return { arguments: shown, masked, isTooDeep };
}

/**
 * Puts the original values back where they were masked. The result is undefined when an edit has touched one of them: a
 * secret is not edited on a card, because the edit would be stored in the clear.
 */
export function unmaskArguments(
  edited: Arguments,
  original: Arguments,
  masked: readonly string[],
): Arguments | undefined {
  const result = structuredClone(edited);
  for (const pointer of masked) {
    const names = pointer.split('/').slice(1).map(unescapeName);
    const last = names.pop();
    const from = last === undefined ? undefined : holderAt(original, names);
    const to = last === undefined ? undefined : holderAt(result, names);
    if (last === undefined || from === undefined || to === undefined) return undefined;
    if (to[last] !== MASK) return undefined;
    to[last] = from[last];
  }
  return result;
}

/** Whether all masked values of the call are as the approval shows them. */
export function keepsMasks(edited: Arguments, masked: readonly string[]): boolean {
  return unmaskArguments(edited, edited, masked) !== undefined;
}

type Holder = Record<string, unknown>;

function holderAt(root: unknown, names: readonly string[]): Holder | undefined {
  let at: unknown = root;
  for (const name of names) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined;
    at = (at as Holder)[name];
  }
  return at === null || typeof at !== 'object' ? undefined : (at as Holder);
}

function saysSecret({ format, writeOnly }: Readonly<Record<string, unknown>>): boolean {
  return format === 'password' || writeOnly === true;
}

function escapeName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
