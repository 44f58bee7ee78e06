import { Mastra } from '@mastra/core';
import { LibSQLStore } from '@mastra/libsql';
import { createClient } from '@parley/sdk';
import { createRefundWorkflow } from './workflow.ts';

const { PARLEY_URL = 'http://localhost:3000', PARLEY_TOKEN = '', APPROVER = 'me' } = process.env;
const [order = 'A-17', euros = '40'] = process.argv.slice(2);

const parley = createClient({ baseUrl: PARLEY_URL, token: PARLEY_TOKEN });
const mastra = new Mastra({
  workflows: { refund: createRefundWorkflow(parley, APPROVER) },
  storage: new LibSQLStore({ id: 'refunds', url: 'file:mastra.db' }),
  logger: false,
});

const workflow = mastra.getWorkflow('refund');
const runId = `refund-${order}`;

/** The question at which the run is suspended. */
async function openQuestion(): Promise<string | undefined> {
  const saved = await workflow.getWorkflowRunById(runId);
  const step = [saved?.steps?.ask ?? []].flat()[0];
  return step?.status === 'suspended' ? step.suspendPayload?.elicitationId : undefined;
}

// A killed process may have left the run suspended.
const isNew = (await workflow.getWorkflowRunById(runId)) === null;
const run = await workflow.createRun({ runId });
if (isNew) await run.start({ inputData: { order, euros: Number(euros) } });

for (let id = await openQuestion(); id !== undefined; id = await openQuestion()) {
  console.log(`Waiting for an answer to ${id}.`);
  const outcome = await parley.outcomeOf<{ pay: boolean }>(id);
  // Declined, cancelled, expired and withdrawn questions are not consent.
  const pay = outcome.status === 'accepted' && outcome.content.pay;
  await run.resume({ step: 'ask', resumeData: { pay } });
}
