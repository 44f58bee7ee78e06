import { dirname, posix } from 'node:path';

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The specifiers of a file's imports. */
export function importsOf({ text }: SourceFile): string[] {
  const found = text.matchAll(
    /^(?:import|export)\b[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gms,
  );
  return [...found].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '');
}

/** The file to which an import leads; undefined for a package. */
export function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(dirname(path), specifier));
  const client = /^@parley\/(core|sdk|widget)(?:\/(?:src\/)?(.+))?$/.exec(specifier);
  if (client !== null) return `clients/${client[1]}/src/${client[2] ?? 'index'}.ts`;
  const shared = /^@parley\/shared\/(.+)$/.exec(specifier)?.[1];
  return shared === undefined ? undefined : `shared/src/${shared}.ts`;
}
