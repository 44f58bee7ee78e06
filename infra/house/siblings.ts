import { dirname } from 'node:path';
import { importsOf, type SourceFile, targetOf } from './imports.ts';

/** The folders in one parent, by name, with the sibling folders that each imports and one such import as an example. */
type Siblings = Map<string, Map<string, string>>;

/**
 * Every circle of imports among sibling folders, at any level, one sentence each. Folders that import each other cannot be
 * understood separately. Files next to the folders do not count.
 */
export function faultsOfSiblings(files: readonly SourceFile[]): string[] {
  const parents = new Map<string, Siblings>();
  for (const file of files)
    for (const specifier of importsOf(file)) {
      const target = targetOf(file.path, specifier);
      if (target !== undefined) note(parents, file.path, target);
    }
  return [...parents].flatMap(([parent, siblings]) => {
    const circle = circleIn(siblings);
    if (circle === undefined) return [];
    const imports = circle.map((from, at) => siblings.get(from)?.get(circle[(at + 1) % circle.length] ?? ''));
    return [`${parent}: ${circle.join(' -> ')} -> ${circle[0]} (${imports.join('; ')})`];
  });
}

function note(parents: Map<string, Siblings>, path: string, target: string): void {
  const [own, other] = [dirname(path).split('/'), dirname(target).split('/')];
  let at = 0;
  while (at < own.length && own[at] === other[at]) at += 1;
  const [from, to] = [own[at], other[at]];
  if (from === undefined || to === undefined) return;
  const parent = own.slice(0, at).join('/');
  const siblings = parents.get(parent) ?? new Map<string, Map<string, string>>();
  const seen = siblings.get(from) ?? new Map<string, string>();
  parents.set(parent, siblings.set(from, seen.set(to, `${path} imports ${target}`)));
}

/** The folders of one circle in the order of their imports; undefined if there is none. */
function circleIn(siblings: Siblings): string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(name)) return trail.slice(trail.indexOf(name));
    if (done.has(name)) return undefined;
    for (const next of siblings.get(name)?.keys() ?? []) {
      const circle = visit(next, [...trail, name]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of siblings.keys()) {
    const circle = visit(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
