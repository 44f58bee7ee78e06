import { dirname } from 'node:path';
import type { SourceFile } from '../house/imports.ts';
import { roomTable } from '../house/rooms.ts';

/** docs/architecture.md with up-to-date tables of rooms and folders. Throws if the page has no place for a table. */
export function architecturePage(page: string, sources: readonly SourceFile[]): string {
  return withTable(withTable(page, 'rooms', roomTable()), 'folders', folderTable(sources));
}

/** The page with the table replaced between the two comments with that name. */
function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/architecture.md has lost ${begin} or ${end}.`);
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

function folderTable(sources: readonly SourceFile[]): string {
  const folders = new Map<string, number[]>();
  for (const { path, text } of sources) {
    const folder = dirname(path);
    folders.set(folder, [...(folders.get(folder) ?? []), text.split('\n').length - 1]);
  }
  const rows = [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, lines]) => `| ${folder} | ${lines.length} | ${roundToTens(medianOf(lines))} |`);
  return ['| folder | files | median |', '|---|--:|--:|', ...rows].join('\n');
}

function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

function roundToTens(value: number): number {
  return Math.max(10, Math.round(value / 10) * 10);
}
