import { createStep, createWorkflow } from '@mastra/core/workflows';
import type { ParleyClient } from '@parley/sdk';
import { z } from 'zod';

const Refund = z.object({ order: z.string(), euros: z.number() });
const Decision = Refund.extend({ pay: z.boolean() });

/** A workflow that pays money back after a person has agreed. */
export function createRefundWorkflow(parley: ParleyClient, userId: string) {
  const ask = createStep({
    id: 'ask',
    inputSchema: Refund,
    outputSchema: Decision,
    suspendSchema: z.object({ elicitationId: z.string() }),
    resumeSchema: z.object({ pay: z.boolean() }),
    async execute({ inputData, resumeData, suspend, runId }) {
      if (resumeData !== undefined) return { ...inputData, ...resumeData };
      const { elicitation } = await parley.start(
        {
          userId,
          mode: 'form',
          message: `Refund ${inputData.euros} euros for order ${inputData.order}?`,
          requestedSchema: {
            type: 'object',
            properties: { pay: { type: 'boolean', title: 'Pay the money back' } },
            required: ['pay'],
          },
          timeoutSeconds: 86_400,
        },
        // A repeated step finds the same question.
        { idempotencyKey: `mastra.${runId}` },
      );
      return suspend({ elicitationId: elicitation.elicitationId });
    },
  });

  const pay = createStep({
    id: 'pay',
    inputSchema: Decision,
    outputSchema: z.object({ status: z.enum(['paid', 'refused']) }),
    async execute({ inputData }) {
      if (!inputData.pay) return { status: 'refused' as const };
      // Make the payment here, with the order as the payment's idempotency key.
      console.log(`Paid ${inputData.euros} euros back for order ${inputData.order}.`);
      return { status: 'paid' as const };
    },
  });

  return createWorkflow({ id: 'refund', inputSchema: Refund, outputSchema: pay.outputSchema })
    .then(ask)
    .then(pay)
    .commit();
}
