import { createClient } from '@parley/sdk';
import { getStepMetadata } from 'workflow';

/** Pays money back after a person has agreed. */
export async function refund(order: string, euros: number): Promise<'paid' | 'refused'> {
  'use workflow';
  if (!(await isApproved(order, euros))) return 'refused';
  await pay(order, euros);
  return 'paid';
}

/** Asks a person and waits for the answer. A repeated step finds the same question. */
async function isApproved(order: string, euros: number): Promise<boolean> {
  'use step';
  const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
  const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
  const { elicitation, outcome } = await parley.start(
    {
      userId: APPROVER,
      mode: 'form',
      message: `Refund ${euros} euros for order ${order}?`,
      requestedSchema: {
        type: 'object',
        properties: { pay: { type: 'boolean', title: 'Pay the money back' } },
        required: ['pay'],
      },
      timeoutSeconds: 3600,
    },
    { idempotencyKey: `workflow.${getStepMetadata().stepId}` },
  );
  console.log(`Waiting for an answer to ${elicitation.elicitationId}.`);
  const answer = await outcome;
  // Declined, cancelled, expired and withdrawn questions are not consent.
  return answer.status === 'accepted' && answer.content.pay;
}

/** Make the payment here. A step may run again, so its id is the payment's idempotency key. */
async function pay(order: string, euros: number): Promise<void> {
  'use step';
  console.log(`Paid ${euros} euros back for order ${order}.`);
}
