/**
 * The pieces from which the schema reader is built: shapes, keyword readers, and hints for unsupported keywords. Which keywords
 * a field may have is in `field.ts`.
 */

import { addIssue, type Issue, joinPath, shownName } from '../issue.ts';
import { isRecord, own } from '../plain-record.ts';
import { faultOfProse } from '../text.ts';
import type { FormCaps } from './bounds.ts';

export type SchemaReading = {
  issues: Issue[];
  caps: FormCaps;
  /** The compiled size that further patterns of the form may have together. If absent, the form may have no patterns. */
  patternRoom?: number;
};

/** Returns a checked copy of a keyword's value, or records an issue and returns undefined. */
export type Reader = (value: unknown, path: string, reading: SchemaReading) => unknown;

/** A kind of object in the subset: the allowed keywords, and the required ones. */
export type Shape = { name: string; keywords: Record<string, Reader>; needs: string[] };

/** Hints for unsupported keywords that are used often. */
const INSTEAD = new Map([
  ['pattern', 'regular expressions are not supported: use minLength, maxLength or format'],
  ['exclusiveMinimum', 'exclusive bounds are not supported: use minimum'],
  ['exclusiveMaximum', 'exclusive bounds are not supported: use maximum'],
  ['$ref', 'references are not supported: write the definition out here'],
  ['anyOf', 'alternatives are not supported here: use oneOf with const and title, or one plain type'],
  ['allOf', 'combined schemas are not supported: write one plain field'],
  ['const', 'not supported here: use an enum with one value'],
  ['uniqueItems', 'remove it: an answer never repeats a choice'],
]);

/** Copies the keywords of an object with the shape. Returns undefined if there is a fault in or below it. */
export function readShape(raw: unknown, path: string, shape: Shape, reading: SchemaReading) {
  if (!isRecord(raw)) return refuse(reading, path, `must be an object that describes a ${shape.name}`);
  const copy: [string, unknown][] = [];
  let sound = true;
  for (const key of Object.keys(raw)) {
    if (raw[key] === undefined) continue;
    const at = joinPath(path, shownName(key));
    const reader = Object.hasOwn(shape.keywords, key) ? shape.keywords[key] : undefined;
    const value =
      reader === undefined
        ? refuse(reading, at, replacementFor(key) ?? `remove it: a ${shape.name} takes ${takenBy(shape)}`)
        : reader(raw[key], at, reading);
    if (value === undefined) sound = false;
    else copy.push([key, value]);
  }
  for (const key of shape.needs.filter((name) => own(raw, name) === undefined)) {
    sound = false;
    refuse(reading, joinPath(path, key), `is missing: a ${shape.name} needs ${shape.needs.join(' and ')}`);
  }
  // Object.fromEntries makes an own key of any name, even of `__proto__`, unlike assignment.
  return sound ? Object.fromEntries(copy) : undefined;
}

function takenBy(shape: Shape): string {
  return Object.keys(shape.keywords).join(', ');
}

/** A hint for a keyword that no shape allows. */
export function replacementFor(key: string): string | undefined {
  return INSTEAD.get(key);
}

/** Records an issue. Returns undefined, so that a reader can return the result of this call. */
export function refuse(reading: SchemaReading, path: string, message: string): undefined {
  addIssue(reading.issues, path, message);
}

/** A reader that accepts only one value. */
export function only(expected: string | boolean): Reader {
  return (value, path, reading) =>
    value === expected ? value : refuse(reading, path, `must be ${JSON.stringify(expected)}`);
}

/** A reader of text for people, with a limited number of code points. */
export function prose(lengthMax: (caps: FormCaps) => number): Reader {
  return (value, path, reading) => {
    if (typeof value !== 'string') return refuse(reading, path, 'must be a string');
    const fault = faultOfProse(value, lengthMax(reading.caps));
    return fault === undefined ? value : refuse(reading, path, fault);
  };
}

/** A reader of a length or a number of items. */
export const count: Reader = (value, path, reading) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? plain(value)
    : refuse(reading, path, 'must be a whole number from 0 up');

/** A reader of an inclusive bound. */
export const bound: Reader = (value, path, reading) =>
  typeof value === 'number' && Number.isFinite(value)
    ? plain(value)
    : refuse(reading, path, 'must be a finite number');

/** Converts -0 to 0: JSON has only one zero. */
function plain(value: number): number {
  return value === 0 ? 0 : value;
}

/** A reader of a list. With `keyOf`, no two entries may have the same key. */
export function readList<T>(entry: Reader, keyOf?: (copy: T) => string): Reader {
  return (value, path, reading) => {
    if (!Array.isArray(value)) return refuse(reading, path, 'must be a list');
    const copies: T[] = [];
    const seen = new Set<string>();
    for (let at = 0; at < value.length; at += 1) {
      const copy = entry(value[at], joinPath(path, String(at)), reading) as T | undefined;
      if (copy === undefined) continue;
      const key = keyOf?.(copy) ?? String(at);
      if (seen.has(key)) refuse(reading, joinPath(path, String(at)), 'repeats an earlier entry; remove it');
      else copies.push(copy);
      seen.add(key);
    }
    return copies.length === value.length ? copies : undefined;
  };
}
