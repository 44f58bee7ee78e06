import type { Page } from 'playwright-core';

/** Listens as the shortcuts of a page do. Returns what they have heard since then: `keydown k`, `paste`. */
export async function listenForShortcuts(page: Page): Promise<() => Promise<readonly string[]>> {
  const heard = await page.evaluateHandle(() => {
    const events: string[] = [];
    for (const name of ['keydown', 'keypress', 'keyup', 'paste'])
      document.addEventListener(name, (event) =>
        events.push('key' in event ? `${name} ${String(event.key)}` : name),
      );
    return events;
  });
  return () => heard.evaluate((events) => events.splice(0));
}
