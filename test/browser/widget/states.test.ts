import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { type Person, type Site, startSite } from '../../harness/widget/site.ts';
import { formStates } from './states-form.ts';
import { hostileInput } from './states-hostile.ts';
import { everyKind } from './states-kinds.ts';
import { forPeople } from './states-people.ts';
import { urlStates } from './states-url.ts';

// Pods and a browser are slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Hands a person to a test, and looks afterwards whether a page had to complain. */
export type WithPerson = (
  use: (person: Person) => Promise<void>,
  options?: Parameters<Site['person']>[0],
) => Promise<void>;

/** Runs cases on pages of three pods. */
function onSite(chromium: string, cases: (site: () => Site, withPerson: WithPerson) => void): void {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(chromium);
  });
  afterAll(async () => {
    await site?.stop();
  });

  const withPerson: WithPerson = async (use, options) => {
    const person = await site.person(options);
    try {
      await use(person);
      expect(person.faults).toEqual([]);
    } finally {
      await person.context.close();
    }
  };

  cases(() => site, withPerson);

  it('was served by every pod', () => {
    expect(site.answeredBy.size).toBe(3);
  });
}

await describeInChromium('the card, over three pods in turn', (chromium) =>
  onSite(chromium, (site, withPerson) => {
    describe('with a form', () => formStates(site, withPerson));
    describe('with every kind', () => everyKind(site, withPerson));
    describe('for accessibility', () => forPeople(site, withPerson));
    describe('with hostile content', () => hostileInput(site, withPerson));
  }),
);

// A card opens windows. The headless shell, which takes half the processor time, blocks none.
await describeInChromium(
  'the card, in a browser that blocks popups',
  (chromium) =>
    onSite(chromium, (site, withPerson) => {
      describe('with a URL', () => urlStates(site, withPerson));
    }),
  { blocksPopups: true },
);
