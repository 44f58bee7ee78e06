import { createClient } from '@parley/sdk';
import { activityInfo, Context } from '@temporalio/activity';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const DAY_SECONDS = 86_400;

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });

export interface Refund {
  readonly order: string;
  readonly euros: number;
}

/** Asks a person and waits for the answer. Every attempt of one activity finds the same question. */
export async function isApproved({ order, euros }: Refund): Promise<boolean> {
  const { workflowExecution, activityId } = activityInfo();
  const { cancellationSignal, heartbeat } = Context.current();
  // Soon after the heartbeats have ended, Temporal gives the activity to another worker.
  const beating = setInterval(() => heartbeat(), 5_000);
  try {
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
        timeoutSeconds: DAY_SECONDS,
      },
      {
        idempotencyKey: `temporal.${workflowExecution?.runId}.${activityId}`,
        signal: cancellationSignal,
      },
    );
    console.log(`Waiting for an answer to ${elicitation.elicitationId}.`);
    const answer = await outcome;
    // Declined, cancelled, expired and withdrawn questions are not consent.
    return answer.status === 'accepted' && answer.content.pay;
  } finally {
    clearInterval(beating);
  }
}

/** Make the payment here. An attempt may be repeated, so the order is the payment's idempotency key. */
export async function pay({ order, euros }: Refund): Promise<void> {
  console.log(`Paid ${euros} euros back for order ${order}.`);
}
