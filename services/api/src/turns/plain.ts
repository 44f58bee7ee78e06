import { isRecord } from '@parley/core/domain/plain-record';

// The maximum depth. Deeper values exhaust the stack of clients that copy or print them.
const DEPTH_MAX = 200;
const TOO_DEEP = '…';
// Characters that readers take for line breaks if they split lines like Python's str.splitlines.
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/**
 * The value as one line of JSON that any client can read. Lone surrogates become U+FFFD, because strict parsers refuse them.
 * Keys that reach for a prototype are removed, because the AI SDK ends the stream when it meets them.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(harmless(value, 0)).replaceAll(LINE_BREAKS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function harmless(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (depth === DEPTH_MAX && typeof value === 'object' && value !== null) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((element) => harmless(element, depth + 1));
  return isRecord(value) ? harmlessRecord(value, depth) : null;
}

function harmlessRecord(record: Record<string, unknown>, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) {
    if (key === '__proto__' || value === undefined) continue;
    copy[key.toWellFormed()] = harmless(key === 'constructor' ? withoutPrototype(value) : value, depth + 1);
  }
  return copy;
}

function withoutPrototype(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { prototype: _prototype, ...rest } = value;
  return rest;
}
