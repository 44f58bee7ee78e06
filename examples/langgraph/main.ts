import { Command } from '@langchain/langgraph';
import { createClient } from '@parley/sdk';
import { FileSaver } from './file-saver.ts';
import { createReleaseGraph, type Question, type Reply } from './graph.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const [version = '1.0'] = process.argv.slice(2);

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const graph = createReleaseGraph(parley, APPROVER).compile({
  checkpointer: new FileSaver('checkpoints.bin'),
});
const thread = { configurable: { thread_id: version } };

/** The question at which the graph has stopped. */
async function openQuestion(): Promise<Question | undefined> {
  const { tasks } = await graph.getState(thread);
  return tasks.flatMap(({ interrupts }) => interrupts)[0]?.value;
}

// A killed process may have begun this thread. Then it goes on from its last checkpoint.
const { createdAt } = await graph.getState(thread);
if (createdAt === undefined) await graph.invoke({ version }, thread);
else if ((await openQuestion()) === undefined) await graph.invoke(null, thread);

for (let question = await openQuestion(); question !== undefined; question = await openQuestion()) {
  console.log(`Waiting for an answer to ${question.elicitationId}.`);
  const outcome = await parley.outcomeOf<Reply>(question.elicitationId);
  if (outcome.status !== 'accepted') console.log(`Not published: the question was ${outcome.status}.`);
  const resume: Reply = outcome.status === 'accepted' ? outcome.content : {};
  await graph.invoke(new Command({ resume }), thread);
}
