import { createMemoryFence } from '@parley/shared/memory/fence';
import { createMemoryPageStore } from '@parley/shared/memory/page-store';
import { expect, test } from 'vitest';
import { createAnswerLinks } from '../../../services/api/src/pages/answer/links.ts';

const ID = 'el_0gT3fMv7Qx2LrK8sYbWnHc4D';
const browser = (id: string) => ({ id, isNew: false });

test('a link opens until its time, and stays open for the browser that opened it', async () => {
  const links = createAnswerLinks(createMemoryPageStore(createMemoryFence()));
  const now = Date.now();
  const opensUntil = now + 60_000;
  const token = await links.issue(ID, { now, opensUntil });
  expect(await links.isOpen(ID, browser('a'))).toBe(false);
  expect(await links.open(ID, token, { browser: browser('a'), now: opensUntil - 1 })).toBe(true);
  expect(await links.open(ID, token, { browser: browser('a'), now: opensUntil })).toBe(true);
  expect(await links.open(ID, token, { browser: browser('b'), now: opensUntil - 1 })).toBe(false);
  expect(await links.isOpen(ID, browser('a'))).toBe(true);
  expect(await links.isOpen(ID, browser('b'))).toBe(false);
  expect(await links.isOpen(ID, { id: 'a', isNew: true })).toBe(false);
});

test('a link that nobody opened in time opens for nobody', async () => {
  const links = createAnswerLinks(createMemoryPageStore(createMemoryFence()));
  const now = Date.now();
  const token = await links.issue(ID, { now, opensUntil: now + 1_000 });
  expect(await links.open(ID, token, { browser: browser('a'), now: now + 1_000 })).toBe(false);
  expect(await links.isOpen(ID, browser('a'))).toBe(false);
});
