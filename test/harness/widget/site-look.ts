import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HEIGHT = 800;
const WIDE = 1280;
export const NARROW = 320;

/** The rules of axe that colour can break, and those that size can break; all others check a page's structure. */
export const RULES_OF_LOOKS = [
  ...['color-contrast', 'link-in-text-block'],
  ...['target-size', 'scrollable-region-focusable'],
];

/**
 * Expects that a page's current appearance has no faults: narrow and dark, wide and light. A colour is the same in every
 * width and a size in every colour, so that these two prove all four. The structure is the same in both.
 */
export async function looksSound(page: Page): Promise<void> {
  const faults: string[] = [];
  for (const [width, colorScheme, rules] of [
    [NARROW, 'dark', RULES_OF_LOOKS],
    [WIDE, 'light', undefined],
  ] as const) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    const found = [...(await axe(page, rules)), ...(await page.evaluate(overflow))];
    faults.push(...found.map((fault) => `${width} ${colorScheme}: ${fault}`));
  }
  expect(faults).toEqual([]);
}

/** The violations that axe finds, by all or some of its rules, one line for each element. */
export async function axe(page: Pick<Page, 'evaluate'>, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async (only) => {
    const { run } = (globalThis as unknown as { axe: typeof import('axe-core') }).axe;
    const { violations } = await run(document, {
      resultTypes: ['violations'],
      // A violation is told by its HTML. Finding a unique selector for each element takes a seventh of the time.
      selectors: false,
      // Fetching style sheets again is what a strict page refuses.
      preload: false,
      ...(only && { runOnly: [...only] }),
      // Part of WCAG 2.2 AA, and off unless asked for.
      ...(!only && { rules: { 'target-size': { enabled: true } } }),
    });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 300)}`));
  }, rules);
}

/** Texts and controls that a person cannot see whole. Runs in the page. */
export function overflow(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  const faults = scrollWidth > clientWidth ? [`scrolls sideways: ${scrollWidth} px wide`] : [];
  const check = (root: Document | ShadowRoot) => {
    for (const element of root.querySelectorAll<HTMLElement>('*')) {
      if (element.shadowRoot !== null) check(element.shadowRoot);
      if (!element.matches('button, a, input, textarea, select, summary, h1, h2, p, li')) continue;
      const { left, right, width } = element.getBoundingClientRect();
      // What is a pixel wide is for screen readers.
      if (width <= 1 || (left >= 0 && right <= clientWidth)) continue;
      if (isInScroller(element)) continue;
      faults.push(`outside the window from ${left} to ${right} px: ${element.outerHTML.slice(0, 200)}`);
    }
  };
  const isInScroller = (element: Element | null): boolean =>
    element !== null &&
    !element.matches('main') &&
    (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) || isInScroller(element.parentElement));
  check(document);
  return faults;
}
