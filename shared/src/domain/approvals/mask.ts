import { isRecord } from '../plain-record.ts';
import type { Arguments } from './approval.ts';

/** What stands in the place of a secret value. */
export const MASK = '••••••';

const SECRET_NAME = /pass(word|phrase|code)|secret|token|api_?-?key|credential|private_?-?key|authorization/i;
const DEPTH_MAX = 32;

/** Arguments with their secret values masked, and the JSON pointers of those. */
export interface MaskedArguments {
  readonly arguments: Arguments;
  readonly masked: readonly string[];
}

/**
 * Masks the secret values of arguments: strings and numbers whose name is that of a secret, or whose schema says
 * `format: password` or `writeOnly`.
 */
export function maskArguments(given: Arguments, schema: unknown): MaskedArguments {
  const masked: string[] = [];

  function walk(value: unknown, within: unknown, pointer: string, isSecret: boolean, depth: number): unknown {
    if (depth > DEPTH_MAX) return MASK;
    const hides = isSecret || saysSecret(within);
    if (Array.isArray(value))
      return value.map((each, at) => walk(each, itemsOf(within), `${pointer}/${at}`, hides, depth + 1));
    if (isRecord(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
          const next = hides || SECRET_NAME.test(name);
          return [
            name,
            walk(each, propertyOf(within, name), `${pointer}/${escapeName(name)}`, next, depth + 1),
          ];
        }),
      );
    if (!hides || (typeof value !== 'string' && typeof value !== 'number')) return value;
    masked.push(pointer);
    return MASK;
  }

  return { arguments: walk(given, schema, '', false, 0) as Arguments, masked };
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

/** Whether all masked values are as the approval shows them. */
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

function saysSecret(schema: unknown): boolean {
  return isRecord(schema) && (schema.format === 'password' || schema.writeOnly === true);
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema.properties : undefined;
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function itemsOf(schema: unknown): unknown {
  return isRecord(schema) ? schema.items : undefined;
}

function escapeName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
