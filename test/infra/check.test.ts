import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allChecks } from '../../infra/check/all.ts';
import { bundleEntry } from '../harness/processes/bundle.ts';
import { checkWith, notRun, type Planted, problemsOf, removeCopy, root } from './planted-tree.ts';

/** A line of defects.txt. */
function parseDefect(line: string): Planted {
  const [title = '', file = '', from = '', to = '', complaint = ''] = line
    .split(' | ')
    .map((field) => field.replaceAll('\\n', '\n'));
  return [title, [file, from, to], new RegExp(complaint)];
}

const [, ...sections] = readFileSync(join(root, 'test/infra/defects.txt'), 'utf8').split(/^== /m);
const defects = Object.fromEntries(
  sections.map((section): [string, Planted[]] => {
    const [check = '', ...lines] = section.trimEnd().split('\n');
    return [check, lines.map(parseDefect)];
  }),
);

afterAll(removeCopy);

it('the planted defects cover every check and no other', () => {
  expect(Object.keys(defects).sort()).toEqual(allChecks.map(({ name }) => name).sort());
});

describe.each(Object.keys(defects))('the check "%s"', (check) => {
  it('accepts the tree unchanged', async (context) => {
    const verdict = await checkWith(check);
    if (verdict.status === 'not run') notRun(context, verdict);
    expect(problemsOf(verdict)).toBe('ok');
  });

  it.for(defects[check] ?? [])('catches %s', async ([, edit, complaint], context) => {
    const verdict = await checkWith(check, edit);
    if (verdict.status === 'not run') notRun(context, verdict);
    expect(problemsOf(verdict)).toMatch(complaint);
  });
});

describe('a check whose program is missing', () => {
  let program: string;
  beforeAll(async () => {
    program = await bundleEntry('infra/check.ts');
  });
  const runWithout = (
    only: string,
    CI: string,
  ): { readonly status: number | null; readonly stdout: string } => {
    const args = [program, '--only', only];
    return spawnSync(process.execPath, args, { cwd: root, env: { PATH: '/nowhere', CI }, encoding: 'utf8' });
  };

  it('is reported and counted, and never passes: a run of such checks alone fails', () => {
    const { status, stdout } = runWithout('promtool', '');
    expect(stdout).toBe(
      'not run: promtool check config: promtool is not installed\n' +
        'not run: promtool test rules: promtool is not installed\n' +
        '0 ok, 0 failed, 2 not run\n',
    );
    expect(status).toBe(1);
  });

  it('does not fail the other checks, but fails under CI=true', () => {
    const { status, stdout } = runWithout('docker', '');
    expect(stdout).toContain('not run: docker-compose config');
    expect(stdout).toContain('ok       .dockerignore');
    expect(status).toBe(0);
    expect(runWithout('docker', 'true').status).toBe(1);
  });
});
