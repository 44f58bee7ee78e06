import { describe, expect, it } from 'vitest';
import { kubernetesDefects } from './kubernetes-defects.ts';
import { otherDefects } from './other-defects.ts';
import { checkWith, problemsOf } from './planted-tree.ts';

const defects = Object.entries({ ...kubernetesDefects, ...otherDefects });

describe.each(defects)('the check "%s"', (check, planted) => {
  it('passes the tree as it is', async () => {
    expect(problemsOf(await checkWith(check, []))).toMatch(/^(ok|not run)$/);
  });

  it.each(planted)('catches %s', async (_title, edit, complaint) => {
    const verdict = await checkWith(check, [edit]);
    if (verdict.status !== 'not run') expect(problemsOf(verdict)).toMatch(complaint);
  });
});
