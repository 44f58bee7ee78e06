import { ParleyError } from '@parley/core/domain/errors';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { expect, it } from 'vitest';
import { expectRefusal, readEntries } from '../../harness/engines/observe.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { elicit, lostRun, saying } from '../../harness/turns/setup.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';

const model = modelOf(({ userText, results }) => {
  if (userText === 'ask' && results.length === 0) return { calls: [SURE] };
  return userText === 'ask and break'
    ? { calls: [SURE, { name: 'break', arguments: {} }] }
    : { text: 'Done.' };
});

const RUNNING = { code: 'turn_running' };
const HANDED_OVER = { status: 'running', owner: 'unowned' };

it('a turn whose pod is dead is resumed by another pod, and waited for', async () => {
  const world = worldOn(model);
  const lost = lostRun(world.conversation);
  await world.backend.runs.begin(lost);
  const { turns } = world.pod();
  expect(await expectRefusal(turns.begin(world.saying('hello')))).toMatchObject(RUNNING);
  expect(await world.ended(lost)).toBe('finished');
  expect(await world.ended(await turns.begin(world.saying('hello')))).toBe('finished');
  const { messages } = await world.backend.conversations.read(world.conversation);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

/** A promise with its resolve function. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

it.each(['stop', 'close'] as const)(
  'a turn that meets a %s during its set-up is ended, or handed over, without a fault',
  async (how) => {
    const world = worldOn(model);
    const { conversations } = world.backend;
    const reached = gate();
    let looks = 0;
    const away: Conversations = {
      ...conversations,
      async read(ref) {
        // The first look is the turn's own; what comes after it is the stop's.
        looks += 1;
        if (looks > 1) return conversations.read(ref);
        reached.open();
        throw new ParleyError('unavailable', 'Away.');
      },
    };
    const { turns, faults } = world.pod({ conversations: away });
    const run = await turns.begin(world.saying('hello'));
    await reached.opened;
    if (how === 'stop') {
      expect(await turns.stop(world.conversation)).toBe(true);
      expect(await world.ended(run)).toBe('stopped');
    } else {
      await turns.close();
      expect(await world.standing(run)).toMatchObject(HANDED_OVER);
    }
    expect(faults.map(String).join()).not.toContain('Away');
  },
);

it('a short outage of the store during the set-up of a turn is retried', async () => {
  const world = worldOn(model);
  const { conversations } = world.backend;
  let refusals = 0;
  const read: Conversations['read'] = async (ref) => {
    refusals += 1;
    if (refusals < 3) throw new ParleyError('unavailable', 'Away.');
    return conversations.read(ref);
  };
  const { turns } = world.pod({ conversations: { ...conversations, read } });
  expect(await world.ended(await turns.begin(world.saying('hello')))).toBe('finished');
});

it('a turn that begins while its pod shuts down is handed over with the others', async () => {
  const world = worldOn(model);
  const [reached, released] = [gate(), gate()];
  const begin: Runs['begin'] = async (run) => {
    reached.open();
    await released.opened;
    return world.backend.runs.begin(run);
  };
  const { turns } = world.pod({ runs: { ...world.backend.runs, begin } });
  const beginning = turns.begin(world.saying('ask'));
  await reached.opened;
  const closed = turns.close();
  released.open();
  await closed;
  expect(await world.standing(await beginning)).toMatchObject(HANDED_OVER);
});

const shown = () => model.current.requests.at(-1)?.body.messages.map(({ content }) => content);

it('the history that a client sends is kept, except for messages that no conversation can begin with', async () => {
  const world = worldOn(model);
  const { turns } = world.pod();
  const before = [
    { role: 'assistant', content: 'Welcome.' },
    { role: 'user', content: 'I am Ada.' },
    { role: 'assistant', content: 'Hello Ada.' },
  ] as const;
  const other = [{ role: 'user', content: 'Other' }] as const;
  await world.ended(await turns.begin(saying(world.conversation, 'one', before)));
  await world.ended(await turns.begin(saying(world.conversation, 'two', other)));
  expect(shown()).toEqual(['helper', 'I am Ada.', 'Hello Ada.', 'one', 'Done.', 'two']);
});

it('a history that was cut in the middle of a turn begins with a user message', async () => {
  const world = worldOn(model, {}, createMemoryBackend({ ...ROOMY, historyMessagesMax: 3 }));
  const { turns } = world.pod();
  for (const text of ['one', 'two', 'three']) await world.ended(await turns.begin(world.saying(text)));
  expect(shown()).toEqual(['helper', 'two', 'Done.', 'three']);
});

it('a turn that ends leaves no question open, whatever it was still asking or waiting for', async () => {
  const world = worldOn(model);
  const breaking = {
    name: 'break',
    description: 'Fails the turn once there is a question.',
    inputSchema: { type: 'object', properties: {} },
    async call(): Promise<never> {
      await world.asked();
      throw new Error('A fault of the tool.');
    },
  };
  const { turns, faults } = world.pod({ agents: { helper: { tools: [elicit, breaking] } } });
  const run = await turns.begin(world.saying('ask and break'));
  expect(await world.ended(run)).toBe('failed');
  expect(await world.open()).toEqual([]);
  expect(faults.map(String)).toEqual(['Error: A fault of the tool.']);
  const entries = await readEntries(world.backend.feed, run);
  expect(entries.slice(-2).map(({ event }) => event.type)).toEqual(['elicitation-resolved', 'turn-failed']);
});
