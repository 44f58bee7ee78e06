import { MockActivityEnvironment } from '@temporalio/testing';
import { isApproved, pay, type Refund } from './activities.ts';

// Runs the activities as the workflow does, on a machine without a Temporal server.
const [order = 'A-17', attempt = '1'] = process.argv.slice(2);
const refund: Refund = { order, euros: 40 };
const workflowExecution = { workflowId: `refund-${order}`, runId: `run-of-${order}` };
const inActivity = new MockActivityEnvironment({
  workflowExecution,
  activityId: '1',
  attempt: Number(attempt),
});

if (await inActivity.run(isApproved, refund)) await inActivity.run(pay, refund);
else console.log('Refused.');
