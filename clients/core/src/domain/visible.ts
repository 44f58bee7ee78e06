import { isRecord } from './plain-record.ts';
import { taggedFlag } from './readable.ts';

// Control characters, lone surrogates, and what Unicode tells programs not to draw.
const UNSEEN = String.raw`[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]`;
// The exceptions that ordinary text contains: line breaks, tabs and soft hyphens; joiners within words and emoji; one variation
// selector after a character.
const ORDINARY = [
  String.raw`[\t\n\r\xad]`,
  String.raw`(?<=[\p{L}\p{M}\p{N}])[\u200c\u200d](?=[\p{L}\p{M}\p{N}])`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=[^\s\p{VS}])\p{VS}`,
].join('|');
const FLAG_OR_UNSEEN = new RegExp(`(${taggedFlag()})|(?!${ORDINARY})${UNSEEN}`, 'gu');

/** Members that people read. Everything else, such as names and values, is sent back and must stay unchanged. */
const READ = new Set(['title', 'description', 'message', 'text', 'enumNames', 'examples', 'label']);
const DATA = new Set(['const', 'enum', 'default']);
/** Members of a schema that contain names chosen by its author; there, `default` is a field and no keyword. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * Removes invisible characters from outside text: control characters, direction marks and overrides, zero-width spaces, tags.
 * All text of servers, agents and askers that people read passes this function where it enters.
 */
export function visible(text: string): string {
  return text.replace(FLAG_OR_UNSEEN, (_found, flag?: string) => flag ?? '');
}

/** Applies `visible` to all texts in a value. */
export function visibleTexts<T>(value: T): T {
  return mapTexts(value, () => 'read') as T;
}

/**
 * Applies `visible` to the texts in a value that people read: titles, descriptions and messages, including those of a schema.
 */
export function visibleLabels<T>(value: T): T {
  return mapTexts(value, (name, within) => {
    if (READ.has(name)) return 'read';
    if (within === 'map') return 'inner';
    return DATA.has(name) ? 'data' : MAPS.has(name) ? 'map' : 'inner';
  }) as T;
}

/**
 * How the value of a member is treated: `read` cleans a text, `inner` descends, `data` is kept unchanged, and `map` has schemas
 * by name.
 */
type Treatment = 'read' | 'inner' | 'data' | 'map';

/** Copies a value without recursion, because others write it and its depth is not limited. */
function mapTexts(root: unknown, partOf: (name: string, within: Treatment) => Treatment): unknown {
  const holder = [root];
  const open: (readonly [holder: Record<string, unknown>, name: string, part: Treatment])[] = [
    [holder as never, '0', partOf('', 'inner')],
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, name, part] = next;
    const value = at[name];
    if (typeof value === 'string' && part === 'read') at[name] = visible(value);
    if (part === 'data' || !(Array.isArray(value) || isRecord(value))) continue;
    const copy = (Array.isArray(value) ? [...value] : Object.fromEntries(Object.entries(value))) as never;
    at[name] = copy;
    for (const inner of Object.keys(value))
      open.push([copy, inner, Array.isArray(value) ? part : partOf(inner, part)]);
  }
  return holder[0];
}
