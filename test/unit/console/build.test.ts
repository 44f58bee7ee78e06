import { expect, it, onTestFinished } from 'vitest';
import { buildConsole } from '../../harness/console/build.ts';

it('the console is built within its budget, holds nothing that a strict page refuses, and names its files by digests', async () => {
  const { built, most, remove } = await buildConsole();
  onTestFinished(remove);
  expect(built.faults).toEqual([]);
  expect(built.firstLoad).toBeLessThanOrEqual(most);
  for (const { name } of built.files) expect(name).toMatch(/^[\w]+-[A-Z0-9]{8}\.(?:js|css)$/);
});
