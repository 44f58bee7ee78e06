import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { agreeToGo, allow, meetPerson, signIn } from '../../../demo/person.ts';
import { SERVICE } from '../../../demo/story.ts';
import { startWorld, type World } from '../../../demo/world.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';

const QUESTION = `Connect ${SERVICE}`;

await describeInChromium('a person who connects an account, over three pods in any order', (chromium) => {
  let world: World;
  let browser: Browser;

  beforeAll(async () => {
    [world, browser] = await Promise.all([
      // Another host than the accounts, so that their redirects come from another site, as in real life.
      startWorld({ publicHost: 'localhost', pick: 'random', print: () => undefined }),
      launchChromium(chromium),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it('may refuse at the provider and then connect after all, gets the answer in the same turn, and is not asked again', async () => {
    const alice = await meetPerson({ browser, url: world.page.url, name: 'alice' });
    await alice.say('List my issues');
    await alice.question(QUESTION);
    await alice.reload();
    const card = await alice.question(QUESTION);

    const tab = await alice.open(card);
    await card.getByText('Please continue in the other window').waitFor();
    await signIn(tab, 'alice');
    await agreeToGo(tab, SERVICE);
    await tab.getByRole('button', { name: 'Refuse' }).click();
    await tab.getByRole('heading', { name: 'You did not agree' }).waitFor();
    expect(await card.innerText()).toContain('Please continue in the other window');
    await tab.getByRole('link', { name: 'Try again' }).click();
    await agreeToGo(tab, SERVICE);
    await allow(tab);
    await tab.getByRole('heading', { name: `${SERVICE} is connected` }).waitFor();
    expect(await alice.answer()).toBe(
      'You have 2 open issues: #1 The login page is slow, #2 The export forgets a column.',
    );
    await card.getByText('Done.').waitFor();

    await alice.say('Create an issue "The search is slow"');
    expect(await alice.answer()).toBe('I created issue #3: The search is slow.');
    expect(await alice.page.getByRole('group', { name: QUESTION }).count()).toBe(1);
    const { issuesOf, counts } = world.neighbours.tracker;
    expect(issuesOf('alice').map(({ title }) => title)).toContain('The search is slow');
    expect(counts().withoutToken).toBe(0);
    expect(new Set(alice.pods.map(({ pod }) => pod)).size).toBeGreaterThan(1);
  });
});
