import { readdir } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import type { Site } from '../../harness/widget/site.ts';
import { type Build, widgetBuild } from '../../harness/widget/site-build.ts';

/** The files that are shipped, as the pages of the site load them. */
export function shippedFiles(site: () => Site): void {
  let build: Build;
  beforeAll(async () => {
    build = await widgetBuild();
  });

  it('puts each card into one file, within its size limit and without code that a strict policy refuses', async () => {
    const { bundles, folder } = site();
    expect(bundles.flatMap((bundle) => build.faultsOfBundle(bundle))).toEqual([]);
    expect(build.CARD_GZIP_MAX).toBe(20_000);
    const gzipOf = (card: string) => bundles.find(({ name }) => name === card)?.gzip;
    expect(gzipOf('elicitation-card')).toBeLessThanOrEqual(20_000);
    expect(gzipOf('approval-card')).toBeLessThanOrEqual(24_000);
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
  ])('would be held back for a file %s that is one byte too large', (name, gzip) => {
    const faults = build.faultsOfBundle({ name, gzip, faults: [] });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`${gzip} bytes.* 1 more`, 'u'))]);
  });
}
