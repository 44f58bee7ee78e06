/**
 * Masks secrets in the arguments of a tool call before a person sees them, and restores them afterwards. Which words name a
 * secret is decided in `secret-words.ts`, and which edits are allowed in `edit.ts`.
 */

import type { Arguments } from '@parley/core/domain/approvals/approval';
import { namesIn, pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { isRecord } from '@parley/core/domain/plain-record';
import { namesSecret } from '../secret-words.ts';
import { faultOfExtent } from './extent.ts';
import { isLabelled, labelsOf } from './labels.ts';
import { itemSchemas, propertySchemas, type SchemasOfValue, schemasOf } from './schemas-at.ts';

/** The replacement for a secret value. */
export const MASK = '••••••';

/** A text line with a header or a variable, such as `Authorization: …`. */
const LINE = /^([\w.-]{1,100})[ \t]*[:=][ \t]*\S/;
// Checking a name takes some microseconds.
const NAMES_MAX = 2_000;
/**
 * The total length of all pointers, in characters: member names may be long, and each pointer contains all names on its path.
 */
const POINTERS_MAX = 64 * 1024;
// This many reads take a fraction of a second. Servers choose the schemas, and a large one must not block the pod.
const SCHEMA_READS_MAX = 300_000;
/** Used where the schema is not read any further: the value may be a secret. */
const UNREAD: SchemasOfValue = { schemas: [], isPartial: true };

/** Arguments with masked secret values, and the JSON pointers of those values. */
export interface MaskedArguments {
  readonly arguments: Arguments;
  readonly masked: readonly string[];
  /** Why the arguments are too large to be masked and displayed; then the other fields are empty. */
  readonly fault?: string;
}

/**
 * Masks the secret values of arguments. A string or number is secret when its name is that of a secret, or when a schema for it
 * (alternatives and references included) says `format: password` or `writeOnly`. The name may also stand beside the value: in
 * the same object, in a pair within a list, or on a line of a list. A value whose schema cannot be read in full is masked too.
 */
export function maskArguments(given: Arguments, schema: unknown): MaskedArguments {
  const extent = faultOfExtent(given);
  if (extent !== undefined) return unshown(extent);
  const masked: string[] = [];
  let named = 0;
  const budget = { left: SCHEMA_READS_MAX };
  const known = new Map<string, boolean>();
  const isSecretName = (name: string) => {
    const is = known.get(name) ?? (known.size > NAMES_MAX || namesSecret(name));
    known.set(name, is);
    return is;
  };

  function walk(value: unknown, within: readonly unknown[], place: ArgumentPlace): unknown {
    const described = budget.left > 0 ? schemasOf(schema, within, budget) : UNREAD;
    const hides = place.isSecret || described.isPartial || described.schemas.some(saysSecret);
    const inner = (
      name: string | number,
      part: unknown,
      isSecret: boolean,
      schemas: () => readonly unknown[],
    ): unknown =>
      walk(part, budget.left > 0 ? schemas() : [], {
        pointer: place.pointer + pointerOf([name]),
        isSecret: hides || isSecret,
        isItem: Array.isArray(value),
      });
    if (Array.isArray(value)) {
      const [first] = value;
      const isPair = place.isItem && value.length === 2 && typeof first === 'string' && isSecretName(first);
      return value.map((each, at) =>
        inner(at, each, isPair ? at === 1 : isSecretLine(each, isSecretName), () =>
          itemSchemas(described, at),
        ),
      );
    }
    if (isRecord(value)) {
      const hidesLabelled =
        Object.keys(value).some(isLabelled) &&
        Object.values(labelsOf(value)).some((label) => typeof label === 'string' && isSecretName(label));
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
          const isSecret = isSecretName(name) || (hidesLabelled && isLabelled(name));
          return [name, inner(name, each, isSecret, () => propertySchemas(described, name))];
        }),
      );
    }
    if (!hides || (typeof value !== 'string' && typeof value !== 'number')) return value;
    named += place.pointer.length;
    if (named <= POINTERS_MAX) masked.push(place.pointer);
    return MASK;
  }

  const shown = walk(given, [schema], { pointer: '', isSecret: false, isItem: false }) as Arguments;
  if (named > POINTERS_MAX) return unshown('hold too many secret values under long names');
  return known.size > NAMES_MAX ? unshown(`hold more than ${NAMES_MAX} names`) : { arguments: shown, masked };
}

function unshown(fault: string): MaskedArguments {
  return { arguments: {}, masked: [], fault };
}

/** The place of a value, and what is known about the value there. */
interface ArgumentPlace {
  /** JSON pointer. */
  readonly pointer: string;
  readonly isSecret: boolean;
  /** True for an item of a list. */
  readonly isItem: boolean;
}

function isSecretLine(item: unknown, isSecretName: (name: string) => boolean): boolean {
  const [, name] = (typeof item === 'string' && LINE.exec(item)) || [];
  return name !== undefined && isSecretName(name);
}

/**
 * Puts the original values back in the masked places. Returns undefined when an edit has changed one of them: secrets cannot be
 * edited on a card, because the edit would be stored unencrypted.
 */
export function unmaskArguments(
  edited: Arguments,
  original: Arguments,
  masked: readonly string[],
): Arguments | undefined {
  const result = structuredClone(edited);
  for (const pointer of masked) {
    const names = namesIn(pointer);
    const last = names.pop();
    const from = last === undefined ? undefined : holderAt(original, names);
    const to = last === undefined ? undefined : holderAt(result, names);
    if (last === undefined || from === undefined || to === undefined) return undefined;
    if (to[last] !== MASK) return undefined;
    to[last] = from[last];
  }
  return result;
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
