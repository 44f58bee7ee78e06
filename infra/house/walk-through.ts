import { WALK_RETURNS_MAX } from './rules.ts';
import { WALKS } from './walks.ts';

/** One walk through the present sources. */
interface Walked {
  readonly name: string;
  readonly steps: readonly { readonly path: string; readonly name: string; readonly room: string }[];
  /** The rooms to which the walk returns after it has left them, in order. */
  readonly returns: readonly string[];
  /** The steps that the sources do not confirm, and whether the walk returns too often. */
  readonly faults: readonly string[];
}

/** Follows every walk through the sources. `read` returns the text of a file; undefined for a file that does not exist. */
export function walkThrough(
  read: (path: string) => string | undefined,
  walks: Readonly<Record<string, readonly string[]>> = WALKS,
): Walked[] {
  return Object.entries(walks).map(([name, lines]) => walked(name, lines, read));
}

function walked(walk: string, lines: readonly string[], read: (path: string) => string | undefined): Walked {
  const steps: { path: string; name: string; room: string }[] = [];
  const faults: string[] = [];
  const returns: string[] = [];
  // Counts the parts of the walk. What another process does after a wake-up is a part of its own.
  let leg = 0;
  for (const line of lines) {
    const [, mark, path = '', name = ''] = /^([~+]?) ?(\S+) (\S+)$/.exec(line) ?? [];
    const names = new RegExp(`\\b${name}\\b`);
    if (!names.test(read(path) ?? '')) faults.push(`${walk}: ${path} has no ${name}`);
    if (mark === '~') leg = steps.length;
    const before = steps.slice(leg);
    const last = before.at(-1);
    const caller =
      mark === '+'
        ? last
        : before.findLast((step) => step.path !== path && names.test(read(step.path) ?? ''));
    if (caller === undefined && last !== undefined)
      faults.push(`${walk}: nothing before it calls ${name} of ${path}`);
    const room = roomOf(path);
    const isEntered = room !== last?.room && room !== caller?.room;
    if (isEntered && before.some((step) => step.room === room)) returns.push(room);
    steps.push({ path, name, room });
  }
  if (returns.length > WALK_RETURNS_MAX)
    faults.push(`${walk}: returns ${returns.length} times to a room that it has left: ${returns.join(', ')}`);
  return { name: walk, steps, returns, faults };
}

/** The room of a file: a folder of the product; below `agents` and `surfaces`, one of their subfolders. */
function roomOf(path: string): string {
  return (
    /^[\w/-]*?src\/(?:(?:agents|surfaces)\/)?[\w-]+(?=\/)/.exec(path)?.[0] ??
    path.slice(0, path.lastIndexOf('/'))
  );
}
