/**
 * The demo's story as a person plays it in a browser. Handling the pages is in `person.ts`, the answers of the model in
 * `stand-ins/scripted-model`.
 */

import type { Browser } from 'playwright-core';
import { agreeToGo, allow, meetPerson, type Person, signIn } from './person.ts';
import type { World } from './world.ts';

/** Title of the tracker in agents.yaml. */
export const SERVICE = 'Acme Tracker';

/** Prints one line of the story, with the pods that served it. */
type LogStep = (line: string, person?: Person) => void;

/** Plays the whole story in a browser. Throws at the first step with an unexpected result. */
export async function playInBrowser(
  browser: Browser,
  world: World,
  print: (text: string) => void,
): Promise<void> {
  const logStep = createStepLog(print);
  const meet = (name: string) => meetPerson({ browser, url: world.page.url, name });
  const alice = await meet('alice');
  await connects(alice, logStep);
  await continuesWithoutAsking(alice, logStep);
  await fillsIn(alice, logStep);
  await alice.close();
  const bob = await meet('bob');
  await declines(bob, logStep);
  await bob.close();
  await countsAtTheTracker(world, logStep);
}

async function connects(alice: Person, logStep: LogStep): Promise<void> {
  await alice.say('List my issues');
  await alice.question(`Connect ${SERVICE}`);
  logStep(`alice says "List my issues", and is asked to connect her account at ${SERVICE}`, alice);

  await alice.reload();
  const card = await alice.question(`Connect ${SERVICE}`);
  logStep('she reloads the page in the middle of it: the same turn, the same question', alice);

  const tab = await alice.open(card);
  await card.getByText('Please continue in the other window').waitFor();
  logStep('she opens the link in a new tab; the chat waits for her', alice);

  await signIn(tab, 'alice');
  logStep('she signs in at her company, so that the page knows she is who was asked', alice);

  await agreeToGo(tab, SERVICE);
  logStep("she agrees at Parley's page, which names the agent, the service and the scopes", alice);

  await allow(tab);
  await tab.getByRole('heading', { name: `${SERVICE} is connected` }).waitFor();
  logStep(`she agrees at ${SERVICE}; the page says that it is connected`, alice);

  expectText(await alice.answer(), /You have 2 open issues/);
  logStep(`the chat continues by itself: "${await alice.answer()}"`, alice);
  await tab.close();
}

async function continuesWithoutAsking(alice: Person, logStep: LogStep): Promise<void> {
  await alice.say('Create an issue "The search is slow"');
  expectText(await alice.answer(), /I created issue #3: The search is slow/);
  const asked = await alice.page.locator('article.assistant').last().locator('elicitation-card').count();
  if (asked > 0) throw new Error('The second call asked again, although the account was connected.');
  logStep(`a second tool call asks nothing: "${await alice.answer()}"`, alice);
}

async function fillsIn(alice: Person, logStep: LogStep): Promise<void> {
  await alice.say('Ask the release agent to "ask me in a form"');
  const card = await alice.question('Release 4.2');
  await card.getByLabel('staging').check();
  await card.getByRole('button', { name: 'Send' }).click();
  expectText(await alice.answer(), /environment staging/);
  logStep(
    `another agent, asked by hers, asks her with a form in the same chat, and continues with her answer: "${await alice.answer()}"`,
    alice,
  );
}

async function declines(bob: Person, logStep: LogStep): Promise<void> {
  await bob.say('List my issues');
  const card = await bob.question(`Connect ${SERVICE}`);
  await card.getByRole('button', { name: 'Decline' }).click();
  expectText(await bob.answer(), /declined/);
  logStep(`bob declines, and the model explains: "${await bob.answer()}"`, bob);
}

async function countsAtTheTracker({ neighbours }: World, logStep: LogStep): Promise<void> {
  const { requests, withoutToken, tools } = neighbours.tracker.counts();
  if (withoutToken > 0) throw new Error(`${withoutToken} requests reached the tracker without a token.`);
  const called = Object.entries(tools).map(([tool, times]) => `${tool} ${times}×`);
  logStep(`the tracker counted ${requests} requests, none without its person's token (${called.join(', ')})`);
}

function expectText(text: string, wanted: RegExp): void {
  if (!wanted.test(text)) throw new Error(`The agent should have said ${wanted}, but said: ${text}`);
}

function createStepLog(print: (text: string) => void): LogStep {
  let number = 0;
  const printed = new Map<Person, number>();
  return (line, person) => {
    number += 1;
    const from = person === undefined ? 0 : (printed.get(person) ?? 0);
    const calls = (person?.pods ?? [])
      .slice(from)
      .filter(({ path }) => !POLL.test(path))
      .map(({ path, pod }) => `${callOf(path)} on ${pod}`);
    if (person !== undefined) printed.set(person, person.pods.length);
    print(`${String(number).padStart(3)}. ${line}${line.endsWith('"') ? '' : '.'}`);
    if (calls.length > 0) print(`     ${calls.join(', ')}`);
  };
}

/** Cards poll their questions, which is not part of the story. */
const POLL = /^\/v1\/elicitations\/[^/]+$/;

/** The purpose of a call: the last part of its path that is not an id. */
function callOf(path: string): string {
  const words = [
    ['response', 'answer'],
    ['events', 'inbox'],
    ['signed-in', 'signed in'],
    ['sign-in', 'sign-in'],
    ['callback', 'callback'],
    ['start', 'start'],
    ['connect', 'page'],
    ['stream', 'resume'],
    ['stop', 'stop'],
  ] as const;
  return words.find(([word]) => path.split('/').includes(word))?.[1] ?? 'chat';
}
