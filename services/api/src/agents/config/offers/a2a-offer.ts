import { z } from 'zod';
import { Id, prose } from '../value-types.ts';

const OfferedAgent = z.strictObject({
  agent: Id.describe('An entry of `agents`.'),
  description: prose(2_000, 'Purpose of the agent, for those who read its card.').optional(),
  answers: z
    .enum(['user', 'caller'])
    .default('user')
    .describe(
      'Who may answer the agent’s questions through A2A. `user`: the person, by a token of their own. `caller`: also a service key that speaks for the person; the record of the answer says so.',
    ),
});

/** Parley's offer to A2A clients. */
export const A2aOfferEntry = z
  .strictObject({
    agents: z
      .array(OfferedAgent)
      .min(1, 'offers no agent; leave `a2aOffer` out')
      .describe('Agents that are offered.'),
  })
  .optional()
  .describe('What `/run/a2a` offers to A2A clients. Absent: nothing. The cards of the agents are public.');
export type A2aOfferEntry = z.infer<typeof A2aOfferEntry>;
