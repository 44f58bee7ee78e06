import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { allChecks } from '../../infra/check/all.ts';
import { kubernetesDefects } from './kubernetes-defects.ts';
import { otherDefects } from './other-defects.ts';
import { checkWith, notRun, type Planted, problemsOf, root } from './planted-tree.ts';

const defects: Readonly<Record<string, readonly Planted[]>> = { ...kubernetesDefects, ...otherDefects };

it('the planted defects cover every check and no other', () => {
  expect(Object.keys(defects).sort()).toEqual(allChecks.map(({ name }) => name).sort());
});

describe.each(Object.keys(defects))('the check "%s"', (check) => {
  it('accepts the tree unchanged', async ({ skip }) => {
    const verdict = await checkWith(check, []);
    if (verdict.status === 'not run') notRun(skip, verdict);
    expect(problemsOf(verdict)).toBe('ok');
  });

  it.for(defects[check] ?? [])('catches %s', async ([, edit, complaint], { skip }) => {
    const verdict = await checkWith(check, [edit]);
    if (verdict.status === 'not run') notRun(skip, verdict);
    expect(problemsOf(verdict)).toMatch(complaint);
  });
});

describe('a check whose program is missing', () => {
  const runWithout = (
    only: string,
    CI: string,
  ): { readonly status: number | null; readonly stdout: string } => {
    const args = ['--conditions=parley-source', '--import', 'tsx', 'infra/check.ts', '--only', only];
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
    const { status, stdout } = runWithout('nginx', '');
    expect(stdout).toContain('not run: nginx -t');
    expect(stdout).toContain('ok       nginx buffering');
    expect(status).toBe(0);
    expect(runWithout('nginx', 'true').status).toBe(1);
  });
});
