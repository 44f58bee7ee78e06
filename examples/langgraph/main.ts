import {
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createClient } from '@parley/sdk';
import { z } from 'zod';
import { FileSaver } from './file-saver.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const [version = '1.0'] = process.argv.slice(2);

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });

const Release = z.object({
  version: z.string(),
  notes: z.string().default(''),
  channel: z.string().optional(),
});
type Release = z.infer<typeof Release>;

/** The question for which the graph waits. It resumes with the answer. */
interface Question {
  readonly elicitationId: string;
}
interface Reply {
  readonly channel?: string;
}

function write({ version }: Release) {
  return { notes: `Version ${version}: fewer faults.` };
}

async function ask({ version, notes }: Release, { configurable }: LangGraphRunnableConfig) {
  // When LangGraph resumes a node, it runs the node from its beginning. The same key finds the same question.
  const { elicitation } = await parley.start(
    {
      userId: APPROVER,
      mode: 'form',
      message: `Where shall version ${version} be published?`,
      description: notes,
      requestedSchema: {
        type: 'object',
        properties: { channel: { type: 'string', enum: ['beta', 'stable'] } },
        required: ['channel'],
      },
      timeoutSeconds: 86_400,
    },
    { idempotencyKey: `langgraph.${configurable?.thread_id}` },
  );
  const question: Question = { elicitationId: elicitation.elicitationId };
  const reply: Reply = interrupt(question);
  return { channel: reply.channel };
}

function publish({ version, channel }: Release) {
  console.log(`Published ${version} to ${channel}.`);
  return {};
}

const graph = new StateGraph(Release)
  .addNode('write', write)
  .addNode('ask', ask)
  .addNode('publish', publish)
  .addEdge(START, 'write')
  .addEdge('write', 'ask')
  .addConditionalEdges('ask', ({ channel }) => (channel === undefined ? END : 'publish'), [END, 'publish'])
  .addEdge('publish', END)
  .compile({ checkpointer: new FileSaver('checkpoints.bin') });
const thread = { configurable: { thread_id: version } };

/** The question at which the graph has stopped. */
async function openQuestion(): Promise<Question | undefined> {
  const { tasks } = await graph.getState(thread);
  return tasks.flatMap(({ interrupts }) => interrupts)[0]?.value;
}

// A killed process may have begun this thread, which then continues from its last checkpoint.
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
