/**
 * Applies the house rules to source files, and reports each violation as a sentence. The rules are data in `rules.ts`; cycles
 * of folders are found in `siblings.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importsOf, type SourceFile, targetOf } from './imports.ts';
import {
  BACKEND_PICKERS,
  BROWSER_ROOMS,
  CORE_DOMAIN,
  DOMAIN_PACKAGES,
  DOMAIN_ROOMS,
  ENV_READERS,
  FOLDER_FILES_MAX,
  FUNCTION_LINES_MAX,
  LINES_MAX,
  mayImport,
  PACKAGE_ROOMS,
  PUBLIC_TYPE_NAMES,
  ROOMS,
  type Room,
  SURFACES,
  TEST_HARNESS,
} from './rules.ts';
import { faultsOfSiblings } from './siblings.ts';

/** All violations of the house rules in these files, one sentence each. */
export function checkHouse(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap(faultsOfFile),
    ...faultsOfFolders(files),
    ...faultsOfTypeNames(files),
    ...faultsOfCycles(files),
    ...faultsOfSiblings(files),
    ...faultsOfCore(files),
  ];
}

/** All imports with which a test suite or an example reaches into another, or that lead back to the importing file. */
export function checkSuites(files: readonly SourceFile[]): string[] {
  const reaching = files.flatMap((file) =>
    importsOf(file).flatMap((specifier) => {
      const target = targetOf(file.path, specifier);
      const [own, other] = [suiteOf(file.path), suiteOf(target ?? '')];
      if (own === undefined || other === undefined || other === own || other === TEST_HARNESS) return [];
      return [`${file.path}: imports ${specifier}; only test/${TEST_HARNESS} serves several suites`];
    }),
  );
  // A person who copies an example has only the published packages.
  const beyond = files.flatMap(({ path, text }) => {
    const own = /^examples\/[^/]+\//.exec(path)?.[0];
    if (own === undefined) return [];
    const isOutside = (specifier: string) =>
      /^@parley\/(?!sdk|widget|core|server|cli)/.test(specifier) ||
      (specifier.startsWith('.') && targetOf(path, specifier)?.startsWith(own) !== true);
    return importsOf({ path, text })
      .filter(isOutside)
      .map(
        (specifier) => `${path}: imports ${specifier}; an example has its own folder and published packages`,
      );
  });
  // Type imports in tests may lead back to the importing file, because they do not exist at run time.
  const loaded = files.map(({ path, text }) => ({ path, text: text.replaceAll(TYPE_IMPORTS, '') }));
  return [...reaching, ...beyond, ...faultsOfCycles(loaded)];
}

const TYPE_IMPORTS = /^import (?:type [^;]*?|\{\s*(?:type \w+(?: as \w+)?,?\s*)+\}) from '[^']+';$/gm;

/** Reads the tests below `root`, their helpers, and other code outside the product. */
export function readTests(root: string): SourceFile[] {
  return readFolders(root, ['test', 'infra', 'bench', 'examples']);
}

/** Reads the product's own sources below `root`. */
export function readSources(root: string): SourceFile[] {
  const folders = [
    'shared/src',
    'services/api/src',
    'services/worker/src',
    'services/server/src',
    'clients/core/src',
    'clients/sdk/src',
    'clients/widget/src',
    'clients/console/src',
    'clients/cli/src',
  ];
  return readFolders(root, folders);
}

function readFolders(root: string, folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\.next/.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  );
}

function faultsOfFile(file: SourceFile): string[] {
  const room = roomOf(file.path);
  if (room === undefined) return [`${file.path}: lies in no room of the house`];
  return [
    ...importsOf(file).flatMap((specifier) => faultsOfImport(file.path, room, specifier)),
    ...faultsOfText(file),
    ...faultsOfSize(file),
  ];
}

function faultsOfImport(path: string, room: Room, specifier: string): string[] {
  if (path.startsWith('shared/') && specifier.startsWith('@parley/shared'))
    return [`${path}: imports ${specifier}; within shared, imports are relative`];
  if (specifier.startsWith('node:')) {
    return BROWSER_ROOMS.includes(room) ? [`${path}: imports ${specifier}, but runs in a browser`] : [];
  }
  const target = targetOf(path, specifier);
  if (target === undefined) return faultsOfPackage(path, room, specifier);
  const other = roomOf(target);
  if (other === undefined) return [`${path}: imports ${specifier}, which lies in no room`];
  if (other === room) return [];
  const isBackend = other === 'shared/src/redis' || other === 'shared/src/memory';
  if (isBackend && !BACKEND_PICKERS.includes(path))
    return [`${path}: imports ${specifier}; only wiring picks a backend`];
  return mayImport(room, other) ? [] : [`${path}: imports ${specifier}; ${room} may not see ${other}`];
}

function faultsOfPackage(path: string, room: Room, specifier: string): string[] {
  const name = specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : (specifier.split('/')[0] ?? '');
  const rooms = PACKAGE_ROOMS[name];
  if (rooms !== undefined && !rooms.includes(room))
    return [`${path}: imports ${name}; only ${rooms.join(', ')} may`];
  if (DOMAIN_ROOMS.includes(room) && !DOMAIN_PACKAGES.includes(name))
    return [`${path}: the domain may not import ${name}`];
  return [];
}

function faultsOfText({ path, text }: SourceFile): string[] {
  const faults: string[] = [];
  if (/^export default\b/m.test(text)) faults.push(`${path}: has a default export`);
  if (/\bprocess\.env\b/.test(text) && !ENV_READERS.includes(path)) faults.push(`${path}: reads process.env`);
  if (/^export \* from/m.test(text)) faults.push(`${path}: exports names without naming them`);
  if (/^(?:const|let|var)? ?.*\bset(?:Interval|Timeout)\(/m.test(topLevelOf(text)))
    faults.push(`${path}: starts a timer at import`);
  if (text.includes('AbortSignal.any(') && text.includes('AbortSignal.timeout('))
    faults.push(
      `${path}: combines signals beside a timeout signal, which Node 20 may lose; use withTimeLimit`,
    );
  if (/^(?:export )?(?:const|let|var) .*= new (?:Redis|Cluster|Queue|Worker)\(/m.test(text)) {
    faults.push(`${path}: connects at import`);
  }
  return faults;
}

/** The lines without indentation, which run when the file is imported. */
function topLevelOf(text: string): string {
  return text
    .split('\n')
    .filter(
      (line) =>
        /^\S/.test(line) && !/^(?:export )?(?:async )?(?:function|const \w+ = (?:async )?\()/.test(line),
    )
    .join('\n');
}

function faultsOfSize({ path, text }: SourceFile): string[] {
  const lines = text.split('\n');
  const faults =
    lines.length > LINES_MAX + 1 ? [`${path}: ${lines.length} lines; split it at ${LINES_MAX}`] : [];
  for (const { start, own } of functionsOf(lines))
    if (own > FUNCTION_LINES_MAX) faults.push(`${path}:${start + 1}: a function of ${own} lines`);
  return faults;
}

/**
 * The start of each function in a formatted file, and the number of its own lines, which exclude those of named functions
 * inside it.
 */
function functionsOf(lines: readonly string[]): { readonly start: number; readonly own: number }[] {
  const found: { readonly start: number; readonly own: number }[] = [];
  const open: { readonly start: number; readonly indent: string; inner: number }[] = [];
  let head: { readonly start: number; readonly indent: string } | undefined;
  for (const [index, line] of lines.entries()) {
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const last = open.at(-1);
    if (last !== undefined && indent === last.indent && /^\s*\}/.test(line)) {
      open.pop();
      const length = index - last.start + 1;
      found.push({ start: last.start, own: length - last.inner });
      const outer = open.at(-1);
      if (outer !== undefined) outer.inner += length;
    }
    if (FUNCTION_HEAD.test(line) && !/^\s*(?:if|for|while|switch|catch|return)\b/.test(line))
      head = { start: index, indent };
    if (head === undefined) continue;
    if (indent === head.indent && /(?:=>|\)(?:: .*)?) \{$/.test(line)) open.push({ ...head, inner: 0 });
    else if (!/;$/.test(line) || index === head.start) continue;
    head = undefined;
  }
  return found;
}

/** Matches the head of a function, a method, or a constant that is a function. */
const FUNCTION_HEAD =
  /^\s*(?:export )?(?:(?:async )?function\b|const \w+(?:: .*)? = (?:async )?(?:<.*>)?\(|(?:async |get |static )*\*?#?\w+(?:<.*>)?\(|\w+: (?:async )?\()/;

/**
 * A type name has only one meaning among the services. It also has only one among the clients, which repeat some names of the
 * wire.
 */
function faultsOfTypeNames(files: readonly SourceFile[]): string[] {
  const declared = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const side = path.startsWith('clients/') && !path.startsWith(`${CORE_DOMAIN}/`) ? 'clients' : 'services';
    for (const [, name = ''] of text.matchAll(
      /^(?:export )?(?:interface|type|class) ([A-Z]\w*)\s*(?:=|<|\{|extends|implements)/gm,
    )) {
      const key = `${side} ${name}`;
      declared.set(key, (declared.get(key) ?? new Set()).add(path));
    }
  }
  return [...declared].flatMap(([key, paths]) => {
    const name = key.split(' ')[1] ?? '';
    return paths.size === 1 || PUBLIC_TYPE_NAMES.includes(name)
      ? []
      : [`${[...paths].join(', ')}: declare the type ${name} with different meanings`];
  });
}

function faultsOfFolders(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(([folder, count]) => `${folder}: ${count} files; split it at ${FOLDER_FILES_MAX}`);
}

function faultsOfCycles(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path));
  const edges = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .map((specifier) => targetOf(file.path, specifier))
        .filter((target) => target !== undefined && known.has(target)) as string[],
    ]),
  );
  const done = new Set<string>();
  const faults: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      faults.push(`import cycle: ${[...trail.slice(at), path].join(' -> ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return faults;
}

/** Files in the clients' package that no client imports. They would be published and loaded for nothing. */
function faultsOfCore(files: readonly SourceFile[]): string[] {
  const inCore = new Map(
    files.filter(({ path }) => roomOf(path) === CORE_DOMAIN).map((file) => [file.path, file]),
  );
  const reached = new Set<string>();
  const follow = (file: SourceFile): void => {
    for (const specifier of importsOf(file)) {
      const target = inCore.get(targetOf(file.path, specifier) ?? '');
      if (target === undefined || reached.has(target.path)) continue;
      reached.add(target.path);
      follow(target);
    }
  };
  for (const file of files) if (file.path.startsWith('clients/') && !inCore.has(file.path)) follow(file);
  return [...inCore.keys()]
    .filter((path) => !reached.has(path))
    .map((path) => `${path}: no client imports it; it belongs into shared/src/domain`);
}

/** The suite to which a test file belongs; undefined for the runner, which may import all. */
function suiteOf(path: string): string | undefined {
  return /^test\/([^/]+)\//.exec(path)?.[1];
}

function roomOf(path: string): Room | undefined {
  const surface = new RegExp(`^${SURFACES}/([^/]+)/`).exec(path)?.[1];
  if (surface !== undefined) return `${SURFACES}/${surface}`;
  return ROOMS.find((room) => path.startsWith(`${room}/`));
}
