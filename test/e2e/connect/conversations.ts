import type { UIMessage } from 'ai';
import { expect } from 'vitest';
import { questionsIn, textOf } from '../../harness/chat/client.ts';
import { BEFORE, TAIL, wholeText } from './agents.ts';
import { asked, begun, meet, type Watched } from './person.ts';
import type { World } from './world.ts';

/** The kinds of a message's parts in order, each with what distinguishes it from others of its kind. */
function outline(message: UIMessage | undefined): string[] {
  const [question] = questionsIn(message);
  return (message?.parts ?? []).map((part) => {
    if (part.type === 'dynamic-tool') return `${part.toolName} ${part.state}`;
    if (part.type === 'data-elicitation-request') return `question ${question?.status}`;
    return part.type === 'text' ? part.text : part.type;
  });
}

/** When a reader loses its connection in the first turn. */
type Drop = 'never' | 'at the first words' | 'at the question';

/** Drops the connection and resumes on another pod; returns the resumed stream. */
async function dropped(
  world: World,
  watched: Watched,
  resume: (pod: World['pods'][number]) => Promise<Watched>,
) {
  watched.leave();
  const other = world.pods.find(({ name }) => name !== watched.pod);
  if (other === undefined) throw new Error('there is no other pod');
  return resume(other);
}

/** Runs one conversation, from its first message to a second turn that needs no question. */
export async function converse(world: World, index: number): Promise<void> {
  const drop: Drop = index % 3 !== 0 ? 'never' : index % 2 === 0 ? 'at the first words' : 'at the question';
  const person = await meet(world);
  const [first, second] = [`first of ${person.userId}`, `second of ${person.userId}`];

  let turn = await person.say(`file ${first}`);
  if (drop === 'at the first words') {
    await begun(turn);
    turn = await dropped(world, turn, person.resume);
  }
  const question = await asked(turn);
  if (drop === 'at the question') {
    turn = await dropped(world, turn, person.resume);
    expect((await asked(turn)).elicitationId).toBe(question.elicitationId);
  }
  await person.connect(question);
  const message = await turn.done;
  expect(outline(message)).toEqual([
    'step-start',
    BEFORE,
    'tracker__create_issue output-available',
    'question accepted',
    'step-start',
    `Created ${first}. ${TAIL}`,
  ]);

  const later = await (await person.say(`file ${second}`)).done;
  expect(questionsIn(later)).toEqual([]);
  expect(textOf(later)).toBe(wholeText(second));
  const done = world.tracker.executions.filter(({ subject }) => subject === person.userId);
  expect(done.map(({ tool, arguments: given }) => [tool, given.title])).toEqual([
    ['create_issue', first],
    ['create_issue', second],
  ]);
}
