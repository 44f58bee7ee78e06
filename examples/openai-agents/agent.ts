import { Agent, tool } from '@openai/agents';
import { z } from 'zod';

const refund = tool({
  name: 'refund',
  description: 'Pays the money for an order back.',
  parameters: z.object({ order: z.string(), euros: z.number() }),
  // The run stops before the call, and continues when a person has decided.
  needsApproval: true,
  async execute({ order, euros }) {
    console.log(`Paid ${euros} euros back for order ${order}.`);
    return 'paid';
  },
});

/** An agent that may pay money back after a person has agreed. */
export const agent = new Agent({
  name: 'Support',
  instructions: 'Help customers with their orders. Use the tool for refunds.',
  model: process.env.OPENAI_MODEL ?? 'gpt-5.2',
  tools: [refund],
});
