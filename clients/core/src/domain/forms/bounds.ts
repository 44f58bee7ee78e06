import { type Issue, joinPath, shownName } from '../issue.ts';
import { isRecord, own } from '../plain-record.ts';

/** Limits of a form schema: the size of its JSON in UTF-8 bytes, counts, and lengths in code points. */
export type FormCaps = {
  jsonBytes: number;
  properties: number;
  options: number;
  titleLength: number;
  descriptionLength: number;
};

export const DEFAULT_FORM_CAPS: FormCaps = {
  jsonBytes: 32 * 1024,
  properties: 50,
  options: 250,
  titleLength: 256,
  descriptionLength: 4096,
};

/** The depth of: schema > properties > field > items > anyOf > option. */
const DEPTH_MAX = 6;

type JsonNode = { value: unknown; path: string; depth: number };

/**
 * Reports a schema that is too wide, too large or too deep. It neither recurses nor serializes, and stops at the first exceeded
 * limit, so the caps limit its cost even for cyclic values.
 */
export function findExcess(input: unknown, caps: FormCaps, depthMax = DEPTH_MAX): Issue | undefined {
  const properties = isRecord(input) ? own(input, 'properties') : undefined;
  const width = isRecord(properties) ? Object.keys(properties).length : 0;
  if (width > caps.properties) {
    return { path: 'properties', message: `must have at most ${caps.properties} entries; it has ${width}` };
  }
  const waiting: JsonNode[] = [{ value: input, path: '', depth: 1 }];
  let room = caps.jsonBytes;
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    room -= shallowBytes(node.value, room);
    if (room < 0) return { path: '', message: `must be at most ${caps.jsonBytes} bytes of JSON` };
    const keys = childKeys(node.value);
    if (keys.length > 0 && node.depth > depthMax) {
      return { path: node.path, message: 'must be flat: give each inner value a field of its own' };
    }
    for (const key of keys) waiting.push(childOf(node, key));
  }
  return undefined;
}

function childKeys(value: unknown): string[] {
  return Array.isArray(value) || isRecord(value) ? Object.keys(value) : [];
}

function childOf({ value, path, depth }: JsonNode, key: string): JsonNode {
  return {
    value: (value as Record<string, unknown>)[key],
    // The path names the field, but nothing below it.
    path: depth < 3 ? joinPath(path, shownName(key)) : path,
    depth: depth + 1,
  };
}

/** The bytes of a value's JSON without its children. Counting may stop once they exceed `room`. */
function shallowBytes(value: unknown, room: number): number {
  if (typeof value === 'string') return stringBytes(value, room);
  if (Array.isArray(value)) return 2 + Math.max(0, value.length - 1);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).length;
  if (!isRecord(value)) return 'null'.length;
  const keys = Object.keys(value);
  let bytes = 2 + Math.max(0, keys.length - 1);
  for (const key of keys) {
    if (bytes > room) break;
    bytes += stringBytes(key, room - bytes) + 1;
  }
  return bytes;
}

function stringBytes(text: string, room: number): number {
  let bytes = text.length + 2;
  if (bytes > room) return bytes;
  for (let at = 0; at < text.length; at += 1) bytes += extraBytes(text, at);
  return bytes;
}

/** How many bytes beyond the first a code unit takes in UTF-8 JSON, because it is escaped or not ASCII. */
function extraBytes(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x20) return '\b\t\n\f\r'.includes(text.charAt(at)) ? 1 : 5;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 1 : 0;
  if (unit < 0x800) return 1;
  if (unit < 0xd800 || unit > 0xdfff) return 2;
  const paired = (text.codePointAt(at) ?? 0) > 0xffff || (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return paired ? 1 : 5;
}
