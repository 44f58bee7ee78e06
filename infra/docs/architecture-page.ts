import { dirname } from 'node:path';
import type { SourceFile } from '../house/imports.ts';

const BEGIN = '<!-- folders -->';
const END = '<!-- /folders -->';

/** docs/architecture.md with its table of folders brought up to date. Throws when the page has no place for the table. */
export function architecturePage(page: string, sources: readonly SourceFile[]): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`docs/architecture.md has lost ${BEGIN} or ${END}.`);
  return `${page.slice(0, from)}${BEGIN}\n\n${folderTable(sources)}\n\n${page.slice(to)}`;
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
