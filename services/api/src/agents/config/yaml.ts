import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { type Fault, type Finding, type Path, pathText } from './fault.ts';
import { sentenceOfSyntax } from './syntax.ts';

const DEPTH_MAX = 16;
// Lists in lists on one line are what overflows the parser's stack beyond what it, or the process, can recover from.
const INDICATORS_IN_A_ROW = /(?:[-?:][ \t]+){32}/;

/** A YAML text as plain values, knowing where in the text each of them stands. */
export interface YamlText {
  /** Maps become objects without prototype. Undefined when the text is empty or no YAML. */
  readonly value: unknown;
  /** What is wrong with it as YAML, and what is YAML but not taken here: aliases, tags, keys given twice. */
  readonly faults: readonly Fault[];
  /** Every text in it, keys included, with where it stands. */
  readonly texts: readonly Text[];
  /** Gives a finding its line and column; what is not in the text is placed at what would hold it. */
  faultOf(finding: Finding): Fault;
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
  const faults: Fault[] = [];
  const placed = (offset: number, path: Path, message: string): Fault => {
    const { line, col: column } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(column, 1), path: pathText(path), message };
  };
  const refuse: Walk['refuse'] = (offset, path, message) => faults.push(placed(offset, path, message));
  const places: Places = new Map([['[]', { key: 0, value: 0 }]]);
  const walk: Walk = { places, texts: [], refuse };
  const rest: Omit<YamlText, 'value'> = {
    faults,
    texts: walk.texts,
    faultOf: ({ path, message, at }) => placed(placeOf(places, path, at), path, message),
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
      // Pretty ones quote the text around the fault, which may hold what must not be printed.
      prettyErrors: false,
      stringKeys: true,
      // Looked for below, in linear time and with the place of the first.
      uniqueKeys: false,
    });
    const told = new Set<number>();
    for (const { code, pos } of [...document.errors, ...document.warnings]) {
      // One slip makes the parser stumble several times on the same line.
      const { line } = lines.linePos(pos[0]);
      if (!told.has(line)) refuse(pos[0], [], sentenceOfSyntax(code));
      told.add(line);
    }
    return document;
  } catch {
    // Whatever trips the parser up, its stack included, is a fault of the text.
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
    walk.refuse(start, path, 'is an alias (`*name`), which this file does not take; write the value out');
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
  return isMap(node) ? entriesOf(node, path, walk) : null;
}

function entriesOf(node: YAMLMap.Parsed, path: Path, walk: Walk): Record<string, unknown> {
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
      walk.refuse(offset, at, 'is there twice; a key may be given once');
      continue;
    }
    // What is left empty stands nowhere, so its key is the place to look at.
    const isEmpty = value === null || (isScalar(value) && value.source === '' && value.value === null);
    walk.places.set(JSON.stringify(at), { key: offset, value: isEmpty ? offset : value.range[0] });
    entries[name] = read(value, at, walk);
  }
  return entries;
}

function placeOf(places: Places, path: Path, at: Finding['at']): number {
  const place = places.get(JSON.stringify(path));
  if (place !== undefined) return at === 'key' ? place.key : place.value;
  return path.length === 0 ? 0 : placeOf(places, path.slice(0, -1), 'key');
}
