import { END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import type { ParleyClient } from '@parley/sdk';
import { z } from 'zod';

const Release = z.object({
  version: z.string(),
  notes: z.string().default(''),
  channel: z.string().optional(),
});
type Release = z.infer<typeof Release>;

/** What the graph waits for, and what it gets. */
export interface Question {
  readonly elicitationId: string;
}
export interface Reply {
  readonly channel?: string;
}

/** A graph that writes release notes, asks a person for the channel, and publishes there. */
export function createReleaseGraph(parley: ParleyClient, userId: string) {
  const write = ({ version }: Release) => ({ notes: `Version ${version}: fewer faults.` });

  const ask = async ({ version, notes }: Release, { configurable }: LangGraphRunnableConfig) => {
    // LangGraph runs a node again from its beginning when it resumes it. The key makes that the same question.
    const { elicitation } = await parley.start(
      {
        userId,
        mode: 'form',
        message: `Where shall version ${version} be published?`,
        description: notes,
        requestedSchema: {
          type: 'object',
          properties: { channel: { type: 'string', enum: ['beta', 'stable'] } },
          required: ['channel'],
        },
        timeoutSeconds: 24 * 3600,
      },
      { idempotencyKey: `release-graph.${configurable?.thread_id}` },
    );
    const question: Question = { elicitationId: elicitation.elicitationId };
    const reply: Reply = interrupt(question);
    return { channel: reply.channel };
  };

  const publish = ({ version, channel }: Release) => {
    console.log(`Published ${version} to ${channel}.`);
    return {};
  };

  return new StateGraph(Release)
    .addNode('write', write)
    .addNode('ask', ask)
    .addNode('publish', publish)
    .addEdge(START, 'write')
    .addEdge('write', 'ask')
    .addConditionalEdges('ask', ({ channel }) => (channel === undefined ? END : 'publish'), [END, 'publish'])
    .addEdge('publish', END);
}
