/** Reads YAML so that every later fault gets its line and column. What the values may be is decided by the schemas. */

import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { type ConfigFault, type Finding, type Path, pathText } from './fault.ts';

const DEPTH_MAX = 16;
// Lists nested on one line can overflow the parser's stack so badly that the process cannot recover.
const INDICATORS_IN_A_ROW = /(?:[-?:][ \t]+){32}/;

/** A YAML text as plain values, with the place of each value in the text. */
export interface YamlText {
  /** Maps become objects without prototype. Undefined when the text is empty or not YAML. */
  readonly value: unknown;
  /** Faults of the YAML itself, and valid YAML that is not accepted here: aliases, tags, duplicate keys. */
  readonly faults: readonly ConfigFault[];
  /** Every text in the file, including keys, with its place. */
  readonly texts: readonly Text[];
  /** Adds line and column to a finding. A missing value gets the place of the map or list that would contain it. */
  faultOf(finding: Finding): ConfigFault;
}

interface Text extends Pick<Finding, 'path' | 'at'> {
  readonly text: string;
}

/** Offsets into the text, by path. */
type Places = Map<string, { readonly key: number; readonly value: number }>;

interface Walk {
  readonly places: Places;
  readonly texts: Text[];
  readonly refuse: (offset: number, path: Path, message: string) => void;
}

/** Reads one YAML 1.2 document. Never throws. No message repeats a value of the text. */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const faults: ConfigFault[] = [];
  const placed = (offset: number, path: Path, message: string): ConfigFault => {
    const { line, col: column } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(column, 1), path: pathText(path), message };
  };
  const refuse: Walk['refuse'] = (offset, path, message) => faults.push(placed(offset, path, message));
  const places: Places = new Map([['[]', { key: 0, value: 0 }]]);
  const walk: Walk = { places, texts: [], refuse };
  const rest: Omit<YamlText, 'value'> = {
    faults,
    texts: walk.texts,
    faultOf: ({ path, message, at }) => placed(findPlace(places, path, at), path, message),
  };
  const document = parse(text, lines, refuse);
  const contents = faults.length > 0 ? undefined : document?.contents;
  return { value: contents ? read(contents, [], walk) : undefined, ...rest };
}

function parse(text: string, lines: LineCounter, refuse: Walk['refuse']): Document.Parsed | undefined {
  const deep = INDICATORS_IN_A_ROW.exec(text);
  if (deep !== null) {
    for (const { index } of text.matchAll(/^/gm)) lines.addNewLine(index);
    refuse(deep.index, [], 'is nested too deeply');
    return undefined;
  }
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      // Pretty errors quote the text around the fault, which may contain a secret.
      prettyErrors: false,
      stringKeys: true,
      // Duplicates are found below, in linear time and with their place.
      uniqueKeys: false,
    });
    const reportedLines = new Set<number>();
    for (const { code, pos } of [...document.errors, ...document.warnings]) {
      // One mistake can cause several errors on the same line. Only the first is reported.
      const { line } = lines.linePos(pos[0]);
      if (!reportedLines.has(line)) refuse(pos[0], [], sentenceOfSyntax(code));
      reportedLines.add(line);
    }
    return document;
  } catch {
    // Any exception of the parser, including a stack overflow, is a fault of the text.
    refuse(0, [], 'cannot be read as YAML; it may be nested too deeply');
    return undefined;
  }
}

function read(node: ParsedNode | null, path: Path, walk: Walk): unknown {
  if (node === null) return null;
  const [start] = node.range;
  if (path.length > DEPTH_MAX) {
    walk.refuse(start, path, 'is nested too deeply');
    return null;
  }
  if (isAlias(node)) {
    walk.refuse(
      start,
      path,
      'is an alias (`*name`), which this file does not support; write the value instead',
    );
    return null;
  }
  if (isScalar(node)) {
    if (typeof node.value === 'string') walk.texts.push({ path, text: node.value });
    return node.value;
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const at = [...path, index];
      const offset = item.range[0];
      walk.places.set(JSON.stringify(at), { key: offset, value: offset });
      return read(item, at, walk);
    });
  }
  return isMap(node) ? readEntries(node, path, walk) : null;
}

function readEntries(node: YAMLMap.Parsed, path: Path, walk: Walk): Record<string, unknown> {
  const entries: Record<string, unknown> = Object.create(null);
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : undefined;
    const [offset] = key.range;
    if (name === undefined || name === '__proto__') {
      walk.refuse(offset, path, 'a key here is not usable as a name');
      continue;
    }
    const at = [...path, name];
    walk.texts.push({ path: at, at: 'key', text: name });
    if (Object.hasOwn(entries, name)) {
      walk.refuse(offset, at, 'occurs twice; a key may occur only once');
      continue;
    }
    // An empty value has no place of its own, so it gets that of its key.
    const isEmpty = value === null || (isScalar(value) && value.source === '' && value.value === null);
    walk.places.set(JSON.stringify(at), { key: offset, value: isEmpty ? offset : value.range[0] });
    entries[name] = read(value, at, walk);
  }
  return entries;
}

function findPlace(places: Places, path: Path, at: Finding['at']): number {
  const place = places.get(JSON.stringify(path));
  if (place !== undefined) return at === 'key' ? place.key : place.value;
  return path.length === 0 ? 0 : findPlace(places, path.slice(0, -1), 'key');
}

const SYNTAX_SENTENCES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: 'is an alias (`*name`), which this file does not support; text that begins with * needs quotes',
  BAD_DQ_ESCAPE: 'has a backslash that YAML does not know; double it, or use single quotes',
  BAD_INDENT: 'is not indented like the lines that it belongs to',
  BAD_SCALAR_START: 'begins with a character that YAML reserves; put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has a second `: ` in one line; put text that holds a colon and a blank in quotes',
  BLOCK_IN_FLOW: 'has a block within brackets or braces; write it in one style',
  MISSING_CHAR: 'lacks a character: a closing quote or bracket, or the colon and blank after a key',
  MULTILINE_IMPLICIT_KEY: 'is not `key: value`; a key is followed by a colon and a blank, on one line',
  MULTIPLE_DOCS: 'begins a second document (`---`); the file is one document',
  NON_STRING_KEY: 'is a key that is not text; put it in quotes',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAB_AS_INDENT: 'is indented with a tab; YAML allows spaces only',
  TAG_RESOLVE_FAILED:
    'is a tag (`!name`) or a value that YAML cannot read; text that begins with ! needs quotes',
};

/** Describes a fault of YAML itself. The parser's own messages quote the text, so they are not used. */
function sentenceOfSyntax(code: ErrorCode): string {
  return (
    SYNTAX_SENTENCES[code] ??
    'is not YAML; look for a missing blank, quote or indent here or on the line before'
  );
}
