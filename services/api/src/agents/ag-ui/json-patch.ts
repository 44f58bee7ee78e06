/**
 * Applies JSON Patches of untrusted agents to a value, with bounds on their cost. Which patches are expected is decided in
 * `thread.ts`.
 */

import { isRecord } from '@parley/core/domain/plain-record';
import { LEVELS_MAX } from '@parley/shared/domain/json/depth';
import type { PatchOperation } from './events.ts';

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** A patch does not fit the value. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}

/**
 * Applies a JSON Patch (RFC 6902) to a value that it may modify, and returns the result. `onRead` gets each value before an
 * operation traverses all of it, and may throw: a short operation may name a large value. Throws PatchError; the value must not
 * be used after that.
 */
export function applyPatch(
  root: unknown,
  operations: readonly PatchOperation[],
  onRead: (value: unknown) => void,
): unknown {
  // The root is a member of a box, so that it can be replaced like any other value.
  const box = { root };
  for (const { op, path, from, value } of operations) {
    const to = placeOf(box, path);
    switch (op) {
      case 'add':
        put(to, value, true);
        break;
      case 'replace':
        read(to);
        put(to, value, false);
        break;
      case 'remove':
        remove(to);
        break;
      case 'test': {
        const tested = read(to);
        onRead(tested);
        if (!equal(tested, value)) throw new PatchError();
        break;
      }
      case 'copy': {
        const copied = read(placeOf(box, from ?? path));
        onRead(copied);
        put(to, structuredClone(copied), true);
        break;
      }
      case 'move': {
        if (from === undefined || path.startsWith(`${from}/`)) throw new PatchError();
        const source = placeOf(box, from);
        const moved = read(source);
        onRead(moved);
        remove(source);
        put(placeOf(box, path), moved, true);
        break;
      }
    }
  }
  return box.root;
}

interface PatchPlace {
  readonly parent: unknown;
  readonly key: string;
  /** The number of values that enclose it. */
  readonly depth: number;
}

function placeOf(box: { root: unknown }, path: string): PatchPlace {
  if (path === '') return { parent: box, key: 'root', depth: 0 };
  if (!path.startsWith('/')) throw new PatchError();
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const depth = keys.length;
  const last = keys.pop() ?? '';
  const parent = keys.reduce<unknown>((within, key) => read({ parent: within, key }), box.root);
  return { parent, key: last, depth };
}

function read({ parent, key }: Pick<PatchPlace, 'parent' | 'key'>): unknown {
  if (Array.isArray(parent) && INDEX.test(key) && Number(key) < parent.length) return parent[Number(key)];
  if (isRecord(parent) && !RESERVED.has(key) && Object.hasOwn(parent, key)) return parent[key];
  throw new PatchError();
}

/** Readers of the result descend into every level, so all operations together may nest no deeper than one event may. */
function put({ parent, key, depth }: PatchPlace, value: unknown, inserts: boolean): void {
  if (depth + levelsOf(value) > LEVELS_MAX) throw new PatchError();
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : INDEX.test(key) ? Number(key) : Number.NaN;
    if (!(index <= parent.length)) throw new PatchError();
    parent.splice(index, inserts ? 0 : 1, value);
  } else if (isRecord(parent) && !RESERVED.has(key)) parent[key] = value;
  else throw new PatchError();
}

function remove(place: PatchPlace): void {
  read(place);
  const { parent, key } = place;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete (parent as Record<string, unknown>)[key];
}

function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, levelsOf(inner)), 0);
}

function equal(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => equal(item, other[index]));
  if (!isRecord(one) || !isRecord(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  const isSameSize = keys.length === Object.keys(other).length;
  return isSameSize && keys.every((key) => Object.hasOwn(other, key) && equal(one[key], other[key]));
}
