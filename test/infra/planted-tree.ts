import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allChecks } from '../../infra/check/all.ts';
import type { Verdict } from '../../infra/check/verdict.ts';

/** The real tree. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** One change to one file: `from` must be there, and its first occurrence becomes `to`. */
export type Edit = readonly [file: string, from: string, to: string];

/** A defect: what it is, the edit that plants it, and what the check must say. */
export type Planted = readonly [title: string, edit: Edit, complaint: RegExp];

const parts = ['infra', 'docs/operations.md', 'docker-compose.yml', '.dockerignore'];

/** Runs the check of that name on a copy of the infrastructure files with the edits applied. */
export async function checkWith(name: string, edits: readonly Edit[]): Promise<Verdict> {
  const check = allChecks({ images: false }).find((item) => item.name === name);
  if (check === undefined) throw new Error(`no check is called ${name}`);
  const copy = mkdtempSync(join(tmpdir(), 'parley-planted-'));
  try {
    for (const part of parts) {
      mkdirSync(dirname(join(copy, part)), { recursive: true });
      cpSync(join(root, part), join(copy, part), { recursive: true });
    }
    for (const [file, from, to] of edits) {
      const text = readFileSync(join(copy, file), 'utf8');
      if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
      writeFileSync(
        join(copy, file),
        text.replace(from, () => to),
      );
    }
    return await check.run(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The problems of a verdict in one text, for matching. */
export function problemsOf(verdict: Verdict): string {
  return verdict.status === 'fail' ? verdict.problems.join('\n') : verdict.status;
}
