import { randomUUID } from 'node:crypto';
import { createHttpPerson } from './http-person.ts';
import { SERVICE } from './story.ts';
import type { World } from './world.ts';

/** Plays the main steps of the story without a browser. Throws at the first step with an unexpected result. */
export async function playOverHttp(world: World, print: (text: string) => void): Promise<void> {
  const meet = async (name: string) =>
    createHttpPerson(world.service.url, await world.tokenOf(name), `http-${randomUUID()}`);
  const alice = await meet('alice');
  const first = await alice.say('List my issues');
  await first.question();
  print(`alice says "List my issues", and is asked to connect her account at ${SERVICE}.`);
  first.leave();
  const resumed = await alice.resume();
  const question = await resumed.question();
  await alice.respond(question, { action: 'accept' });
  await alice.connect(question, 'alice');
  print('she comes back to the same turn, signs in, agrees at Parley, agrees at the provider.');
  print(`the chat continues by itself: "${expected(await resumed.answer, /You have 2 open issues/)}"`);

  const second = await alice.say('Create an issue "The search is slow"');
  print(`a second tool call asks nothing: "${expected(await second.answer, /I created issue #3/)}"`);

  const bob = await meet('bob');
  const asked = await bob.say('List my issues');
  await bob.respond(await asked.question(), { action: 'decline' });
  print(`bob declines, and the model explains: "${expected(await asked.answer, /declined/)}"`);

  const { requests, withoutToken } = world.neighbours.tracker.counts();
  if (withoutToken > 0) throw new Error(`${withoutToken} requests reached the tracker without a token.`);
  print(`the tracker counted ${requests} requests, none without its person's token.`);
}

function expected(text: string, wanted: RegExp): string {
  if (!wanted.test(text)) throw new Error(`The agent should have said ${wanted}, but said: ${text}`);
  return text;
}
