import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Build, type Bundle, buildWidget, widgetBuild } from '../../harness/widget/site-build.ts';

describe('the shipped files', () => {
  let build: Build;
  let folder: string;
  let bundles: readonly Bundle[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-widget-'));
    build = await widgetBuild();
    bundles = await buildWidget(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('puts each card into one file, within its size limit and without code that a strict policy refuses', async () => {
    expect(bundles.flatMap((bundle) => build.faultsOfBundle(bundle))).toEqual([]);
    expect(build.CARD_GZIP_MAX).toBe(20_000);
    const card = bundles.find(({ name }) => name === 'elicitation-card');
    expect(card?.gzip).toBeLessThanOrEqual(20_000);
    const approvals = bundles.find(({ name }) => name === 'approval-card');
    expect(approvals?.gzip).toBeLessThanOrEqual(24_000);
    // No style sheet, font or piece that a page would have to serve, too.
    expect((await readdir(folder)).sort()).toEqual(bundles.map(({ name }) => `${name}.js`).sort());
  });

  it.each([
    ['eval("1")', 'eval('],
    ['new Function("return 1")', 'new Function'],
    ['@font-face { src: url(a.woff) }', 'a font'],
    ['background: url(https://example.com/a.png)', 'a resource from the network'],
    ['import "https://example.com/a.js"', 'an import from the network'],
  ])('would be held back for %s', (code, fault) => {
    expect(build.faultsOf(code)).toContain(fault);
  });

  it.each([
    ['elicitation-card', 20_001],
    ['approval-card', 24_001],
  ])('fails for a file %s that is one byte too large', (name, gzip) => {
    const faults = build.faultsOfBundle({ name, gzip, faults: [] });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`${gzip} bytes.* 1 more`, 'u'))]);
  });
});
