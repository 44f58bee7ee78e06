import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { launchFor, type Site, startSite, type WithPerson } from '../../harness/widget/site.ts';
import { sdkInPages } from '../sdk-page.ts';
import { inboxSuite } from './inbox.ts';
import { adapters } from './inbox-adapters.ts';
import { formStates } from './states-form.ts';
import { hostileInput } from './states-hostile.ts';
import { everyKind } from './states-kinds.ts';
import { forPeople } from './states-people.ts';
import { shippedFiles } from './states-size.ts';
import { opensWindows, urlStates } from './states-url.ts';

// All suites share the pods and the pages.
let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site?.stop());

// Before anything else is put into their folder.
describe('the shipped files', () => shippedFiles(() => site));

/** People with windows of the browser of that path. */
function withBrowser(chromium: string): WithPerson {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchFor(chromium);
  });
  afterAll(() => browser?.close());
  return async (use, options) => {
    const person = await site.person(browser, options);
    try {
      await use(person);
      expect(person.faults).toEqual([]);
    } finally {
      await person.leave();
    }
  };
}

await describeInChromium('the widget, over two pods in turn', (chromium) => {
  const withPerson = withBrowser(chromium);
  describe('a card with a form', () => formStates(() => site, withPerson));
  describe('a card with a URL', () => urlStates(() => site, withPerson));
  describe('a card with every kind', () => everyKind(() => site, withPerson));
  describe('a card, for accessibility,', () => forPeople(() => site, withPerson));
  describe('a card with hostile content', () => hostileInput(() => site, withPerson));
  describe('the inbox', () => inboxSuite(() => site, withPerson));
  describe('a chat', () => adapters(() => site, withPerson));
  describe('the SDK in a page', () => sdkInPages(() => site, withPerson));
  it('was served by every pod', () => {
    expect(site.answeredBy.size).toBe(2);
  });
});

// The headless shell, which takes half the processor time, blocks no window that a card opens.
await describeInChromium(
  'a card with a URL, in a browser that blocks popups',
  (chromium) => opensWindows(() => site, withBrowser(chromium)),
  { blocksPopups: true },
);
