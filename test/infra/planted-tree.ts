import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { allChecks } from '../../infra/check/all.ts';
import type { Verdict } from '../../infra/check/verdict.ts';
import { testNotRun } from '../harness/not-run.ts';

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** One change to one file: `from` must be there, and its first occurrence becomes `to`. */
export type Edit = readonly [file: string, from: string, to: string];

/** A defect: its name, the edit that plants it, and the complaint expected of the check. */
export type Planted = readonly [title: string, edit: Edit, complaint: RegExp];

const PARTS = [
  ...['Dockerfile', 'kubernetes', 'proxy', 'redis', 'secrets', 'telemetry'].map((part) => `infra/${part}`),
  'docs/operations.md',
  'docker-compose.yml',
  '.dockerignore',
];

/** The one copy of the infrastructure files. Writing all of them for each defect took longer than the checks. */
let copy: string | undefined;

/** Makes the copy when it is asked for first. The checks only read it. */
function copyOfParts(): string {
  if (copy !== undefined) return copy;
  copy = mkdtempSync(join(tmpdir(), 'parley-planted-'));
  for (const part of PARTS) {
    mkdirSync(dirname(join(copy, part)), { recursive: true });
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  return copy;
}

/** Removes the copy after the last check of a file. */
export function removeCopy(): void {
  if (copy !== undefined) rmSync(copy, { recursive: true, force: true });
  copy = undefined;
}

/** Runs the check of that name on a copy of the infrastructure files with the edit applied, one check at a time. */
export async function checkWith(name: string, edit?: Edit): Promise<Verdict> {
  const check = allChecks.find((item) => item.name === name);
  if (check === undefined) throw new Error(`no check is called ${name}`);
  const tree = copyOfParts();
  const restore = edit && plant(tree, edit);
  try {
    return await check.run(tree);
  } finally {
    restore?.();
  }
}

/** Applies an edit, and returns what takes it back. */
function plant(tree: string, [file, from, to]: Edit): () => void {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return () => writeFileSync(path, text);
}

/** The problems of a verdict as one text. */
export function problemsOf(verdict: Verdict): string {
  return verdict.status === 'fail' ? verdict.problems.join('\n') : verdict.status;
}

/** Ends the test as not run. Fails it instead under CI=true when apt-get could have installed the program. */
export function notRun(
  context: TestContext,
  { why, available }: Extract<Verdict, { status: 'not run' }>,
): never {
  if (available && process.env.CI === 'true') throw new Error(`not run: ${why}`);
  return testNotRun(context, why);
}
